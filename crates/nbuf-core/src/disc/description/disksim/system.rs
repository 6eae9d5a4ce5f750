//! The bus on which a `.parv` has its drive.

use super::super::DescriptionError;
use super::Placed;
use super::syntax::Statement;
use super::table::Table;

/// The bus of the drive; without a topology, one that takes no time.
#[derive(Debug, Default)]
pub(super) struct Bus {
    /// The kinds of drives on it; `None`, without a topology, means all.
    kinds: Option<Vec<String>>,
    /// The times of a sector to the host and from it, in milliseconds.
    pub read_ms: f64,
    pub write_ms: f64,
}

impl Bus {
    /// Whether a drive of this kind is on it.
    pub(super) fn has(&self, kind: &str) -> bool {
        self.kinds.as_ref().is_none_or(|kinds| kinds.iter().any(|one| one == kind))
    }

    pub(super) fn of(all: &[Placed]) -> Result<Self, DescriptionError> {
        let kind_of = |wanted: &str| {
            all.iter().find_map(|(.., statement)| match statement {
                Statement::Instantiate { names, kind } => {
                    names.iter().any(|name| name == wanted).then_some(kind.as_str())
                }
                _ => None,
            })
        };
        let topology = all.iter().find_map(|(.., statement)| match statement {
            Statement::Topology(words) => Some(words),
            _ => None,
        });
        let Some(words) = topology else { return Ok(Self::default()) };
        // Tracks the components around a word, and the innermost bus among them.
        let (mut around, mut last): (Vec<Option<&str>>, Option<&str>) = (Vec::new(), None);
        let (mut bus, mut kinds) = (None, Vec::new());
        for two in words.windows(2) {
            match (two[0].as_str(), two[1].as_str()) {
                ("disksim_bus", name) => last = Some(name),
                ("disksim_disk", name) => {
                    bus = bus.or_else(|| around.iter().rev().find_map(|bus| *bus));
                    kinds.extend(kind_of(name).map(str::to_owned));
                }
                ("[", _) => around.push(last.take()),
                ("]", _) => {
                    around.pop();
                }
                _ => {}
            }
        }
        kinds.dedup();
        let found = Self { kinds: Some(kinds), ..Self::default() };
        let Some(kind) = bus.and_then(kind_of) else { return Ok(found) };
        for (file, line, statement) in all {
            match statement {
                Statement::Block(block) if block.kind == "disksim_bus" && block.name == kind => {
                    return found.with(&Table::of(file, *line, block));
                }
                _ => {}
            }
        }
        Ok(found)
    }

    fn with(self, table: &Table<'_>) -> Result<Self, DescriptionError> {
        // Arbitration has no effect on a drive that is alone.
        table.pass(&["type", "Arbitration type", "Print stats"]);
        let arbitration = table.ms("Arbitration time")?;
        if let Some(item) = table.get("Arbitration time")
            && arbitration != 0.0
        {
            return table.wrong(
                item.line,
                "`Arbitration time` is not 0: add it to the overheads of the drive",
            );
        }
        let read_ms = table.ms("Read block transfer time")?;
        let write_ms = table.ms("Write block transfer time")?;
        table.finish()?;
        Ok(Self { read_ms, write_ms, ..self })
    }
}
