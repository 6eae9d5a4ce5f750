//! A `dm_disk`: the places of its sectors (`dm_layout_g1`), and its motion (`dm_mech_g1`).

use super::super::zone::{SchemeName, SparingTable, ZoneTable};
use super::super::{
    BufferTable, BusTable, CurveTable, DescriptionError, Document, HeadsName, OverheadTable,
    PiecesTable, SCHEMA, SchedulerName, SeekTable,
};
use super::syntax::{Item, Value};
use super::table::Table;
use super::{Files, sourced};

/// The sector size of every drive in `DiskSim`.
const SECTOR_BYTES: u32 = 512;

/// Reads the mechanism alone: no overheads, no buffer, a bus that takes no time.
pub(super) fn document(
    drive: &Table<'_>,
    files: &mut Files<'_>,
) -> Result<Document, DescriptionError> {
    let (layout_file, layout) = sourced(drive, "Layout Model", files)?;
    let (mechanism_file, mechanism) = sourced(drive, "Mechanical Model", files)?;
    let surfaces = drive.small("Number of data surfaces")?;
    // The end of the zones gives both.
    drive.pass(&["Number of cylinders", "Block count"]);
    drive.finish()?;
    let layout = Table::of(&layout_file, layout.0, &layout.1);
    let mechanism = Table::of(&mechanism_file, mechanism.0, &mechanism.1);
    layout.must_be("dm_layout_g1")?;
    mechanism.must_be("dm_mech_g1")?;
    let (heads, sparing, zone) = places(&layout)?;
    let seek = seek(&mechanism, files, zone.last().map_or(0, |zone| zone.last_cylinder))?;
    let document = Document {
        schema: SCHEMA.to_owned(),
        what: drive.name().to_owned(),
        source: String::new(),
        sector_bytes: SECTOR_BYTES,
        surfaces,
        rotation_rpm: mechanism
            .number_of("Rotation speed (in rpms)", mechanism.must("Rotation speed (in rpms)")?)?,
        head_switch_ms: mechanism.ms("Head switch time")?,
        write_settle_ms: mechanism.ms("Add. write settling delay")?,
        heads,
        scheduler: SchedulerName::default(),
        seek,
        overhead: OverheadTable::default(),
        bus: BusTable::default(),
        disconnect: None,
        buffer: BufferTable::default(),
        sparing,
        zone,
    };
    if let Some(item) = mechanism.get("Percent error in rpms")
        && mechanism.number_of("Percent error in rpms", item)? != 0.0
    {
        return mechanism.wrong(
            item.line,
            "`Percent error in rpms` is not 0: the same requests would take other times",
        );
    }
    mechanism.finish()?;
    Ok(document)
}

type Places = (HeadsName, SparingTable, Vec<ZoneTable>);

fn places(layout: &Table<'_>) -> Result<Places, DescriptionError> {
    let heads = match layout.count("LBN-to-PBN mapping scheme")? {
        0 => HeadsName::Upwards,
        1 => HeadsName::InTurnsOfZone,
        2 => HeadsName::InTurns,
        other => {
            let line = layout.must("LBN-to-PBN mapping scheme")?.line;
            return layout.wrong(
                line,
                format!("`LBN-to-PBN mapping scheme` is {other}: 0, 1 and 2 are known"),
            );
        }
    };
    let item = layout.must("Sparing scheme used")?;
    let scheme = layout.count_of("Sparing scheme used", item)?;
    let scheme = usize::try_from(scheme).ok().and_then(|at| SchemeName::NUMBERED.get(at));
    let Some(&scheme) = scheme else {
        return layout.wrong(item.line, "`Sparing scheme used` is beyond 10");
    };
    let range = layout.get("Rangesize for sparing");
    let cylinders = match range {
        Some(_) if scheme == SchemeName::Cylinders => Some(layout.small("Rangesize for sparing")?),
        _ => None,
    };
    let in_turns = in_turns(layout)?.unwrap_or(false);
    let zones = layout.list("Zones")?.iter().map(|item| match &item.value {
        Value::Block(block) => zone(&Table::of(layout.file, item.line, block), in_turns),
        _ => layout.wrong(item.line, "a zone is a block"),
    });
    let zones = zones.collect::<Result<_, _>>()?;
    layout.finish()?;
    Ok((heads, SparingTable { scheme, cylinders }, zones))
}

/// Whether skews are parts of a turn instead of sectors.
fn in_turns(table: &Table<'_>) -> Result<Option<bool>, DescriptionError> {
    match table.words("Skew units")? {
        None => Ok(None),
        Some((_, "sectors")) => Ok(Some(false)),
        Some((_, "revolutions")) => Ok(Some(true)),
        Some((line, other)) => {
            table.wrong(line, format!("`Skew units` is {other}: sectors and revolutions are known"))
        }
    }
}

fn zone(table: &Table<'_>, of_layout: bool) -> Result<ZoneTable, DescriptionError> {
    let sectors_per_track = table.small("Blocks per track")?;
    let unit =
        if in_turns(table)?.unwrap_or(of_layout) { f64::from(sectors_per_track) } else { 1.0 };
    let numbers = |key: &str| {
        table
            .list(key)?
            .iter()
            .map(|item| table.count_of(key, item))
            .collect::<Result<Vec<u64>, _>>()
    };
    let mut slips: Vec<u64> = numbers("slips")?;
    slips.sort_unstable();
    slips.dedup();
    let defects: Vec<u64> = numbers("defects")?;
    let pairs = defects.chunks_exact(2);
    if !pairs.remainder().is_empty() {
        let line = table.must("defects")?.line;
        return table.wrong(line, "`defects` are pairs: where a sector would be, and where it is");
    }
    // A remap to its own place has no effect.
    let remaps = pairs.map(|pair| (pair[0], pair[1])).filter(|(from, to)| from != to).collect();
    let zone = ZoneTable {
        first_cylinder: table.small("First cylinder number")?,
        last_cylinder: table.small("Last cylinder number")?,
        sectors_per_track,
        first_offset_sectors: table.ms("Offset of first block")? * unit,
        gap_sectors: table.count_or("Empty space at zone front", 0)?,
        track_skew_sectors: table.ms("Skew for track switch")? * unit,
        cylinder_skew_sectors: table.ms("Skew for cylinder switch")? * unit,
        spares: table.count_or("Number of spares", 0)?,
        slips,
        remaps,
    };
    table.finish()?;
    Ok(zone)
}

/// Reads the figures of the given type of seek. Real files also contain the figures of other types.
fn seek(
    table: &Table<'_>,
    files: &mut Files<'_>,
    last: u32,
) -> Result<SeekTable, DescriptionError> {
    const KEYS: [&str; 8] = [
        "Access time type",
        "Constant access time",
        "Constant seek time",
        "Single cylinder seek time",
        "Average seek time",
        "Full strobe seek time",
        "HPL seek equation values",
        "First ten seek times",
    ];
    table.pass(&KEYS);
    table.pass(&["Full seek curve"]);
    if let Some((line, way)) = table.words("Access time type")?
        && way != "trackSwitchPlusRotation"
    {
        return table
            .wrong(line, format!("`Access time type` is {way}: trackSwitchPlusRotation is known"));
    }
    let one = |key| table.number_of(key, table.must(key)?);
    let mut seek = SeekTable::default();
    let Some((line, kind)) = table.words("Seek type")? else {
        return table.must("Seek type").map(|_| seek);
    };
    match kind {
        "constant" => seek.constant_ms = Some(one("Constant seek time")?),
        "linear" => {
            let times = [
                one("Single cylinder seek time")?,
                one("Average seek time")?,
                one("Full strobe seek time")?,
            ];
            let far = [1, (last / 3).max(2), last.max(3)];
            seek.points = Some(far.into_iter().zip(times).collect());
        }
        "curve" => {
            let (one_ms, mean_ms) = (one("Single cylinder seek time")?, one("Average seek time")?);
            let full_ms = one("Full strobe seek time")?;
            seek.curve = Some(CurveTable { one_ms, mean_ms, full_ms });
        }
        "hpl" | "hplplus10" => seek.pieces = Some(pieces(table, kind == "hplplus10")?),
        "extracted" => {
            let Some((line, name)) = table.words("Full seek curve")? else {
                return table.must("Full seek curve").map(|_| seek);
            };
            let text = files.read(table.file, line, name)?;
            seek.points = Some(points(name, &text)?);
        }
        other => {
            return table.wrong(
                line,
                format!("`Seek type` is {other}: constant, linear, curve, hpl, hplplus10 and extracted are known"),
            );
        }
    }
    Ok(seek)
}

/// Reads the six figures of Ruemmler and Wilkes, and the first ten seeks.
fn pieces(table: &Table<'_>, has_ten: bool) -> Result<PiecesTable, DescriptionError> {
    let numbers = |key, count: usize| {
        let items: &[Item] = table.list(key)?;
        if items.len() < count {
            let line = table.must(key)?.line;
            return table
                .wrong(line, format!("`{key}` has {} values: it takes {count}", items.len()));
        }
        items[..count]
            .iter()
            .map(|item| table.number_of(key, item))
            .collect::<Result<Vec<f64>, _>>()
    };
    let key = "HPL seek equation values";
    let six = numbers(key, 6)?;
    let line_from = table.count_of(key, &table.list(key)?[0])?;
    let first_ms = match (has_ten, six[5] >= 0.0) {
        (true, _) => numbers("First ten seek times", 10)?,
        (false, true) => vec![six[5]],
        (false, false) => Vec::new(),
    };
    Ok(PiecesTable {
        first_ms,
        line_from: u32::try_from(line_from).unwrap_or(u32::MAX),
        root_base_ms: six[1],
        root_ms: six[2],
        line_base_ms: six[3],
        line_ms: six[4],
    })
}

/// Parses lines of `distance, milliseconds`, with an optional deviation, after a heading.
fn points(file: &str, text: &str) -> Result<Vec<(u32, f64)>, DescriptionError> {
    let mut points = Vec::new();
    let mut wanted: Option<usize> = None;
    for (at, line) in text.lines().enumerate() {
        if at == 0 && line.starts_with("Seek distances measured") {
            wanted = line.split(':').nth(1).and_then(|count| count.trim().parse().ok());
            continue;
        }
        if line.trim().is_empty() {
            continue;
        }
        let mut parts = line.split(',').map(str::trim);
        let distance = parts.next().and_then(|word| word.parse().ok());
        let ms = parts.next().and_then(|word| word.parse().ok());
        let (Some(distance), Some(ms)) = (distance, ms) else {
            let what = "this is no seek: write `distance in cylinders, milliseconds`";
            return Err(DescriptionError::at(file, at + 1, what));
        };
        points.push((distance, ms));
    }
    if points.is_empty() || wanted.is_some_and(|wanted| wanted != points.len()) {
        let wanted = wanted.map_or_else(|| "1 or more".to_owned(), |wanted| wanted.to_string());
        let what = format!("this file has {} seeks instead of {wanted}", points.len());
        return Err(DescriptionError::at(file, 1, what));
    }
    Ok(points)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_of_seeks_has_as_many_as_it_says() {
        let check = |text: &str, want: &str| {
            let error = points("d.seek", text).unwrap_err().to_string();
            assert!(error.starts_with("d.seek, line 1") && error.contains(want), "{error}");
        };
        check("", "has 0 seeks instead of 1 or more");
        check("Seek distances measured: 87\n1, 2.0\n", "has 1 seeks instead of 87");
        let whole = "Seek distances measured: 2\n1,\t1.9\n\n2,\t2.1\n";
        assert_eq!(points("d.seek", whole).unwrap(), [(1, 1.9), (2, 2.1)]);
    }
}
