//! Reads what the job wrote to its serial line: marks, and the documents of nbuf between them.

use serde_json::Value;

/// A fact of the machine: its name and the value follow.
pub(super) const FACT: &str = "@fact ";
/// A program begins: its name, whether the multi-generational LRU was wanted, and the mask that the kernel shows.
pub(super) const BEGIN: &str = "@begin ";
/// Why there is no document.
pub(super) const ERROR: &str = "@error ";
/// The program ended; nbuf's exit status follows.
pub(super) const END: &str = "@end ";
/// The whole script ended.
pub(super) const DONE: &str = "@done";

/// A program, sized once.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Cell {
    pub(super) program: String,
    /// `on` or `off`, as it was wanted.
    pub(super) wanted: String,
    /// The bits of `/sys/kernel/mm/lru_gen/enabled`; none where the kernel has no such file.
    pub(super) mask: Option<u32>,
    /// nbuf's document; none if there was none, or a part of it was lost.
    pub(super) report: Option<Value>,
    pub(super) status: Option<i32>,
    pub(super) error: String,
}

impl Cell {
    /// What evicted: the core of the multi-generational LRU is its lowest bit.
    pub(super) fn lru(&self) -> &'static str {
        match self.mask {
            Some(mask) if mask & 1 != 0 => "on",
            _ => "off",
        }
    }

    /// Whether the kernel did as the script wanted.
    pub(super) fn is_as_wanted(&self) -> bool {
        self.lru() == self.wanted
    }
}

/// Everything that was written.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Seen {
    /// Names and values.
    pub(super) facts: Vec<(String, String)>,
    pub(super) cells: Vec<Cell>,
    /// Errors outside of cells.
    pub(super) errors: Vec<String>,
    /// Whether the script came to its end.
    pub(super) is_done: bool,
}

/// Reads the line. What it cannot read it leaves out, as a machine may be ended at any moment.
pub(super) fn parse(text: &str) -> Seen {
    let mut seen = Seen::default();
    let mut open: Option<(Cell, String)> = None;
    for line in text.lines().map(|line| line.trim_end_matches('\r')) {
        if let Some(rest) = line.strip_prefix(FACT) {
            let (name, value) = rest.split_once(' ').unwrap_or((rest, ""));
            seen.facts.push((name.to_owned(), value.to_owned()));
        } else if let Some(rest) = line.strip_prefix(BEGIN) {
            seen.cells.extend(open.take().map(|(cell, _)| cell));
            open = Some((begun(rest), String::new()));
        } else if let Some(rest) = line.strip_prefix(ERROR) {
            match &mut open {
                Some((cell, _)) => rest.clone_into(&mut cell.error),
                None => seen.errors.push(rest.to_owned()),
            }
        } else if let Some(rest) = line.strip_prefix(END) {
            if let Some((mut cell, document)) = open.take() {
                cell.status = rest.trim().parse().ok();
                cell.report = serde_json::from_str(&document).ok();
                seen.cells.push(cell);
            }
        } else if line == DONE {
            seen.is_done = true;
        } else if let Some((_, document)) = &mut open {
            document.push_str(line);
            document.push('\n');
        }
    }
    // The machine was ended while this one ran.
    seen.cells.extend(open.map(|(cell, _)| cell));
    seen
}

fn begun(rest: &str) -> Cell {
    let mut words = rest.split_whitespace();
    let mut word = || words.next().unwrap_or_default().to_owned();
    let (program, wanted, mask) = (word(), word(), word());
    let mask = u32::from_str_radix(mask.trim_start_matches("0x"), 16).ok();
    Cell { program, wanted, mask, ..Cell::default() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_whole_line_gives_facts_and_documents() {
        let text = "@fact kernel 6.12.41+deb13-amd64\r\n@fact cgroup cgroup2fs\r\n\
                    @begin grep on 0x0007\r\n{\r\n  \"verdict\": \"proved\"\r\n}\r\n@end 0\r\n\
                    @begin tar off 0x0000\r\n@error no memory\r\n@end 125\r\n@done\r\n";
        let seen = parse(text);
        assert_eq!(seen.facts[1], ("cgroup".to_owned(), "cgroup2fs".to_owned()));
        let [grep, tar] = &seen.cells[..] else { panic!("{seen:?}") };
        assert_eq!((grep.lru(), grep.status, grep.is_as_wanted()), ("on", Some(0), true));
        assert_eq!(grep.report.as_ref().unwrap()["verdict"], "proved");
        assert_eq!((tar.lru(), tar.error.as_str(), tar.status), ("off", "no memory", Some(125)));
        assert!(tar.report.is_none() && seen.is_done && seen.errors.is_empty());
    }

    #[test]
    fn a_line_that_breaks_off_anywhere_gives_what_came_before() {
        let text = "@error late\n@begin grep on 0x0007\n{\"verify\": []}\n@end 0\n@begin tar off\n{\"a\": 1";
        for end in 0..=text.len() {
            let seen = parse(&text[..end]);
            assert!(!seen.is_done && seen.cells.len() <= 2);
        }
        let seen = parse(text);
        assert_eq!((seen.errors.len(), seen.cells.len()), (1, 2));
        assert!(seen.cells[0].report.is_some() && seen.cells[1].report.is_none());
        assert_eq!((seen.cells[1].mask, seen.cells[1].lru()), (None, "off"));
    }

    #[test]
    fn a_kernel_that_does_not_do_as_wanted_shows_it() {
        let cell = |text| begun(text);
        assert!(!cell("grep on 0x0000").is_as_wanted());
        assert!(cell("grep off").is_as_wanted());
        assert!(!cell("grep off 0x0007").is_as_wanted());
    }
}
