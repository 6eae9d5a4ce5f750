//! A `disksim_disk`: the controller and the buffer around a mechanism.

use super::super::buffer::{AheadName, BufferTable};
use super::super::times::{BusTable, DisconnectTable, ExtraWriteTable, OverheadTable, WatermarkOf};
use super::super::{DescriptionError, Document, SchedulerName};
use super::system::Bus;
use super::table::Table;
use super::{Files, mechanism, sourced};

/// Parameters without effect on a lone request in the drive. They are statistics, the order of
/// several requests, the division of large writes, or less than a sector (`docs/discs.md`).
const WITHOUT_EFFECT: [&str; 19] = [
    "Print stats",
    "Avg sectors per cylinder",
    "Max queue length",
    "Calc sector by sector",
    "Allow sneaky full read hits",
    "Allow sneaky partial read hits",
    "Allow sneaky intermediate read hits",
    "Allow write prebuffering",
    "Preseeking level",
    "Hold bus entire write xfer",
    "Low (write) water mark",
    "Read-ahead over requested",
    "Read any free blocks",
    "Stop prefetch in sector",
    "Write hit stop prefetch",
    "Read directly to buffer",
    "Disconnect write if seek",
    "Immediate buffer read",
    "Immediate buffer write",
];

/// Reads the whole drive.
pub(super) fn document(
    drive: &Table<'_>,
    bus: &Bus,
    files: &mut Files<'_>,
) -> Result<Document, DescriptionError> {
    drive.pass(&WITHOUT_EFFECT);
    let (file, (line, block)) = sourced(drive, "Model", files)?;
    let mut document = mechanism::document(&Table::of(&file, line, &block), files)?;
    drive.name().clone_into(&mut document.what);
    let fast_writes = drive.count_or("Fast write level", 0)?;
    let scale = drive.number("Time scale for overheads")?.unwrap_or(1.0);
    document.overhead = overhead(drive, scale, fast_writes > 0)?;
    let bulk = drive.ms("Bulk sector transfer time")?;
    document.bus =
        BusTable { read_sector_ms: bulk.max(bus.read_ms), write_sector_ms: bulk.max(bus.write_ms) };
    document.disconnect = disconnect(drive, scale)?;
    document.buffer = buffer(drive, fast_writes > 0)?;
    document.scheduler = scheduler(drive)?;
    drive.finish()?;
    Ok(document)
}

fn overhead(
    drive: &Table<'_>,
    scale: f64,
    fast_writes: bool,
) -> Result<OverheadTable, DescriptionError> {
    let per_request = drive.ms("Per-request overhead time")?;
    let ms = |key: &str| Ok::<f64, DescriptionError>(drive.ms(key)? * scale);
    let after = |what: &str| {
        let of =
            |after: &str| Ok(ms(&format!("{what} over. after {after}"))? + per_request * scale);
        Ok::<(f64, f64), DescriptionError>((of("read")?, of("write")?))
    };
    let (hit, miss) = (after("Write hit")?, after("Write miss")?);
    Ok(OverheadTable {
        read_hit_ms: after("Read hit")?,
        read_miss_ms: after("Read miss")?,
        write_ms: if fast_writes { hit } else { miss },
        read_end_ms: ms("Read completion overhead")?,
        write_end_ms: ms("Write completion overhead")?,
        prepare_ms: ms("Data preparation overhead")?,
        write_seek_min_ms: drive.ms("Minimum seek delay")?,
    })
}

fn disconnect(drive: &Table<'_>, scale: f64) -> Result<Option<DisconnectTable>, DescriptionError> {
    let ms = |key: &str| Ok::<f64, DescriptionError>(drive.ms(key)? * scale);
    let of_request = drive.is("Set watermark by reqsize")?;
    let per_request = ms("Per-request overhead time")?;
    let extra = ExtraWriteTable {
        command_ms: ms("Extradisc command overhead")? + per_request,
        seek_ms: ms("Extradisc seek delta")?,
        disconnect_ms: ms("Extradisc disconnect overhead")?,
        gap_ms: drive.ms("Extradisc inter-disconnect delay")?,
        second_ms: ms("Extradisc 2nd disconnect overhead")?,
    };
    let table = DisconnectTable {
        read_ms: (ms("Read disconnect afterread")?, ms("Read disconnect afterwrite")?),
        write_ms: ms("Write disconnect overhead")?,
        reselect_ms: ms("First reselect overhead")?,
        reselect_other_ms: ms("Other reselect overhead")?,
        read_watermark: drive.ms("High (read) water mark")?,
        watermark_of: if of_request { WatermarkOf::Request } else { WatermarkOf::Segment },
        holds_reads: drive.is("Hold bus entire read xfer")?,
        partial_at_once: drive.is("Immed transfer partial hit")?,
        extra_write: drive.is("Extra write disconnect")?.then_some(extra),
    };
    Ok((!drive.is("Never disconnect")?).then_some(table))
}

fn buffer(drive: &Table<'_>, fast_writes: bool) -> Result<BufferTable, DescriptionError> {
    let segment_sectors = drive.count("Segment size (in blks)")?;
    let segments = drive.count("Number of buffer segments")?;
    let writes = drive.count_or("Maximum number of write segments", 1)?;
    let separate = drive.is("Use separate write segment")?;
    if let Some(item) = drive.get("Minimum read-ahead (blks)")
        && drive.number_of("Minimum read-ahead (blks)", item)? != 0.0
    {
        return drive.wrong(
            item.line,
            "`Minimum read-ahead (blks)` is not 0: here the next request always stops it",
        );
    }
    let most = drive.count_or("Maximum read-ahead (blks)", 0)?;
    let ahead = match drive.get("Buffer continuous read") {
        None => AheadName::None,
        Some(item) => match drive.count_of("Buffer continuous read", item)? {
            0 => AheadName::None,
            1 => AheadName::Track,
            2 => AheadName::Cylinder,
            3 => AheadName::Sectors,
            4 => AheadName::NextTrack,
            other => {
                return drive.wrong(
                    item.line,
                    format!("`Buffer continuous read` is {other}: 0 to 4 are known"),
                );
            }
        },
    };
    let own = u64::from(separate && segments > 1);
    let small = |count: u64| usize::try_from(count).unwrap_or(usize::MAX);
    Ok(BufferTable {
        segments: small(segments - own.min(segments)),
        segment_sectors,
        behind_segments: if fast_writes { small(writes.max(1)) } else { 0 },
        ahead,
        ahead_sectors: if most > 0 { most } else { segment_sectors },
        ahead_after_hit: drive.is("Read-ahead on idle hit")?,
        joins: drive.is("Allow almost read hits")?,
        // A segment for writes alone does not serve reads.
        keeps_writes: drive.is("Allow read hits on write data")? && !separate,
        caches: drive.count_or("Enable caching in buffer", 0)? > 0,
        combines_writes: drive.is("Combine seq writes")?,
    })
}

/// The scheduler of the drive's queue.
fn scheduler(drive: &Table<'_>) -> Result<SchedulerName, DescriptionError> {
    let Some(item) = drive.get("Scheduler") else { return Ok(SchedulerName::Fifo) };
    let super::syntax::Value::Block(block) = &item.value else {
        return drive.wrong(item.line, "`Scheduler` is a block");
    };
    let queue = Table::of(drive.file, item.line, block);
    let item = queue.must("Scheduling policy")?;
    match queue.count_of("Scheduling policy", item)? {
        1 => Ok(SchedulerName::Fifo),
        2 | 5 => Ok(SchedulerName::Elevator),
        4 | 7 => Ok(SchedulerName::Sstf),
        other => queue.wrong(
            item.line,
            format!("`Scheduling policy` is {other}: 1 (fifo), 2 and 5 (elevator), 4 and 7 (sstf) are known"),
        ),
    }
}
