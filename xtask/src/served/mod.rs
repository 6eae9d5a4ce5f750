//! `nbuf serve` next to nbdkit's caches and qemu-nbd, on one image: the table of docs/serve.md.
//!
//! Each round starts every server once for each kind of disc, in turns, so that what else the machine does
//! meanwhile is in all rows. Needs nbdkit, nbdcopy, qemu-nbd and fio with its engine for NBD. A round takes
//! five minutes.

mod curve;
mod load;
mod servers;

use std::fmt::Write as _;
use std::fs::{self, File};
use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::thread::sleep;
use std::time::Duration;

use anyhow::{Context, Result};

pub use curve::curve;
use load::{Load, Measured, measured};
use servers::{Disc, Kind, Place, Server};

/// The image, of random bytes.
const IMAGE_BYTES: u64 = 512 << 20;
/// The cache in front of the slow disc: a quarter.
const CACHE_BYTES: u64 = IMAGE_BYTES / 4;

const ZIPF: [&str; 3] = ["--rw=randread", "--bs=4k", "--random_distribution=zipf:1.1"];
/// In front of the slow disc, cold at first.
const SLOW: [Load; 2] = [
    Load {
        name: "zipf 1.1, depth 32, disc of 5 ms",
        options: &[ZIPF[0], ZIPF[1], ZIPF[2], "--norandommap", "--iodepth=32"],
        ramp: 15,
        seconds: 4,
    },
    Load {
        name: "zipf 1.1, depth 1, disc of 5 ms",
        options: &[ZIPF[0], ZIPF[1], ZIPF[2], "--norandommap", "--iodepth=1"],
        ramp: 15,
        seconds: 4,
    },
];
/// With the whole image in the cache.
const FAST: [Load; 5] = [
    Load {
        name: "warm, 4 KiB, depth 1",
        options: &["--rw=randread", "--bs=4k", "--iodepth=1"],
        ramp: 0,
        seconds: 3,
    },
    Load {
        name: "warm, 4 KiB, depth 32",
        options: &["--rw=randread", "--bs=4k", "--iodepth=32"],
        ramp: 0,
        seconds: 3,
    },
    Load {
        name: "warm, zipf 1.1, depth 32",
        options: &[ZIPF[0], ZIPF[1], ZIPF[2], "--norandommap", "--iodepth=32"],
        ramp: 0,
        seconds: 3,
    },
    Load {
        name: "warm, sequential 128 KiB, depth 8",
        options: &["--rw=read", "--bs=128k", "--iodepth=8"],
        ramp: 0,
        seconds: 3,
    },
    Load {
        name: "writes of 4 KiB, depth 32, flush after 32",
        options: &["--rw=randwrite", "--bs=4k", "--iodepth=32", "--fsync=32"],
        ramp: 0,
        seconds: 3,
    },
];
/// Hits of one client while another one misses.
const HITS: &str = "hits while another client misses, disc of 5 ms";
const HIT: Load =
    Load { name: HITS, options: &["--rw=randread", "--bs=4k", "--iodepth=1"], ramp: 1, seconds: 3 };
/// What the first client reads, in memory since before.
const HIT_BYTES: u64 = 16 << 20;
const FETCH: Load =
    Load { name: HITS, options: &["--rw=read", "--bs=1m", "--iodepth=4"], ramp: 0, seconds: 2 };
const MISS: Load = Load {
    name: HITS,
    options: &["--rw=randread", "--bs=4k", "--iodepth=8", "--offset=128m"],
    ramp: 0,
    seconds: 8,
};

/// One server with one load.
struct Cell {
    load: &'static str,
    kind: Kind,
    got: Measured,
    /// Processor time of the server for an operation, where all of it was counted.
    cpu_us: Option<f64>,
    /// The part of the reads that the cache served while it was measured.
    hit_ratio: Option<f64>,
}

/// Runs all of it in this number of rounds, and gives the tables.
pub fn table(nbuf: &Path, rounds: usize) -> Result<String> {
    let cells = in_folder(|folder| all(nbuf, folder, rounds));
    Ok(written(&cells?, rounds))
}

/// Does it in a folder that goes.
fn in_folder<T>(does: impl FnOnce(&Path) -> Result<T>) -> Result<T> {
    let folder = std::env::temp_dir().join(format!("nbuf-served-{}", std::process::id()));
    fs::create_dir(&folder).with_context(|| format!("cannot make {}", folder.display()))?;
    let done = does(&folder);
    fs::remove_dir_all(&folder)?;
    done
}

/// An image of random bytes.
fn image(folder: &Path) -> Result<PathBuf> {
    let image = folder.join("img");
    let mut random = File::open("/dev/urandom")?.take(IMAGE_BYTES);
    let mut file = File::create(&image)?;
    io::copy(&mut random, &mut file)?;
    file.sync_all()?;
    Ok(image)
}

fn all(nbuf: &Path, folder: &Path, rounds: usize) -> Result<Vec<Cell>> {
    let image = image(folder)?;
    let slow = Place { nbuf, folder, image: &image, cache_bytes: CACHE_BYTES };
    // A little more than the image, so that no policy evicts.
    let fast = Place { cache_bytes: IMAGE_BYTES + (IMAGE_BYTES >> 3), ..slow };
    let mut cells = Vec::new();
    for round in 0..rounds {
        let mut kinds = [Kind::Plain, Kind::Filter, Kind::Cow, Kind::Nbuf];
        kinds.rotate_left(round % 4);
        for load in &SLOW {
            for kind in kinds {
                cells.push(note(cold(kind, load, &slow)?));
            }
        }
        for kind in [Kind::Filter, Kind::Nbuf, Kind::Spinning] {
            cells.push(note(hits(kind, &slow)?));
        }
        for kind in kinds.into_iter().chain([Kind::Spinning, Kind::QemuBack, Kind::QemuNone]) {
            let server = Server::start(kind, Disc::Fast, &fast)?;
            server.warm()?;
            for load in &FAST {
                cells.push(note(warm(&server, kind, load)?));
            }
            server.stop()?;
        }
    }
    Ok(cells)
}

/// Half an hour is long: what is known so far is shown.
fn note(cell: Cell) -> Cell {
    say(&format!("{}, {}: {:.0} a second", cell.load, cell.kind.name(), cell.got.rate));
    cell
}

fn say(line: &str) {
    let _ = writeln!(io::stderr(), "{line}");
}

/// A server that starts with an empty cache.
fn cold(kind: Kind, load: &'static Load, place: &Place<'_>) -> Result<Cell> {
    let server = Server::start(kind, Disc::Slow, place)?;
    let running = load.begin(&server.uri(), "512m")?;
    sleep(Duration::from_secs(u64::from(load.ramp)));
    let before = server.reads(place.nbuf)?;
    let got = measured(running)?;
    let after = server.reads(place.nbuf)?;
    let hit_ratio = before.zip(after).map(|((reads_before, hits_before), (reads, hits))| {
        (hits - hits_before) / (reads - reads_before).max(1.0)
    });
    server.stop()?;
    Ok(Cell { load: load.name, kind, got, cpu_us: None, hit_ratio })
}

fn hits(kind: Kind, place: &Place<'_>) -> Result<Cell> {
    let server = Server::start(kind, Disc::Slow, place)?;
    let size = format!("{HIT_BYTES}");
    FETCH.run(&server.uri(), &size)?;
    let other = MISS.begin(&server.uri(), "384m")?;
    let got = HIT.run(&server.uri(), &size);
    let other = measured(other);
    let got = got?;
    other?;
    server.stop()?;
    Ok(Cell { load: HITS, kind, got, cpu_us: None, hit_ratio: None })
}

fn warm(server: &Server, kind: Kind, load: &'static Load) -> Result<Cell> {
    let before = server.cpu_us()?;
    let got = load.run(&server.uri(), "512m")?;
    let cpu_us = (server.cpu_us()? - before) as f64 / got.operations.max(1.0);
    Ok(Cell { load: load.name, kind, got, cpu_us: Some(cpu_us), hit_ratio: None })
}

/// The median, and the least and the most.
fn spread(mut values: Vec<f64>) -> Option<(f64, f64, f64)> {
    values.sort_by(f64::total_cmp);
    let last = values.len().checked_sub(1)?;
    Some((f64::midpoint(values[last / 2], values[values.len() / 2]), values[0], values[last]))
}

fn written(cells: &[Cell], rounds: usize) -> String {
    let mut text = match rounds {
        1 => "One round:\n\n".to_owned(),
        _ => format!("Medians of {rounds} rounds, and from the lowest to the highest:\n\n"),
    };
    text += "| load | server | operations a second | p50, us | p99, us | server's CPU, us |\n\
             |---|---|---|---|---|---|\n";
    let loads = SLOW.iter().map(|load| load.name).chain([HITS]).chain(FAST.iter().map(|l| l.name));
    for load in loads {
        let mut kinds: Vec<Kind> = Vec::new();
        for cell in cells.iter().filter(|cell| cell.load == load) {
            if !kinds.contains(&cell.kind) {
                kinds.push(cell.kind);
            }
        }
        for kind in kinds {
            row(&mut text, cells, load, kind);
        }
    }
    bound(&mut text, cells);
    text
}

fn row(text: &mut String, cells: &[Cell], load: &str, kind: Kind) {
    let of = |value: &dyn Fn(&Cell) -> Option<f64>| {
        let cells = cells.iter().filter(|cell| cell.load == load && cell.kind == kind);
        spread(cells.filter_map(value).collect())
    };
    let Some((rate, low, high)) = of(&|cell| Some(cell.got.rate)) else { return };
    let range = if low < high { format!(" ({low:.0} to {high:.0})") } else { String::new() };
    let median = |value: &dyn Fn(&Cell) -> Option<f64>, digits: usize| match of(value) {
        Some((median, ..)) => format!("{median:.digits$}"),
        None => String::new(),
    };
    let _ = writeln!(
        text,
        "| {load} | {} | {rate:.0}{range} | {} | {} | {} |",
        kind.name(),
        median(&|cell| Some(cell.got.p50_us), 0),
        median(&|cell| Some(cell.got.p99_us), 0),
        median(&|cell| cell.cpu_us, 1),
    );
}

/// What the slow disc bounds: its own rate, over the part that misses.
fn bound(text: &mut String, cells: &[Cell]) {
    let of = |kind: Kind, value: &dyn Fn(&Cell) -> Option<f64>| {
        let cells = cells.iter().filter(|cell| cell.load == SLOW[0].name && cell.kind == kind);
        spread(cells.filter_map(value).collect()).map(|(median, ..)| median)
    };
    let disc = of(Kind::Plain, &|cell| Some(cell.got.rate));
    let rate = of(Kind::Nbuf, &|cell| Some(cell.got.rate));
    let hits = of(Kind::Nbuf, &|cell| cell.hit_ratio);
    if let (Some(disc), Some(rate), Some(hits)) = (disc, rate, hits) {
        let most = disc / (1.0 - hits);
        let _ = writeln!(
            text,
            "\nIn the first row of nbuf {:.1} % of the reads were hits while it was measured. So the disc's {disc:.0} \
             reads a second bound it to {most:.0}.\nIt reached {:.0} % of that. The rate of the disc is from another row, so a \
             little more than 100 % is possible.",
            hits * 100.0,
            rate / most * 100.0
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_load_has_a_row_of_each_server_and_the_bound_of_the_disc() {
        let cell = |load, kind, rate, hit_ratio| Cell {
            load,
            kind,
            got: Measured { rate, p50_us: 1.0, p99_us: 2.0, operations: 9.0 },
            cpu_us: None,
            hit_ratio,
        };
        let cells = [
            cell(SLOW[0].name, Kind::Plain, 3000.0, None),
            cell(SLOW[0].name, Kind::Nbuf, 27_000.0, Some(0.9)),
            cell(SLOW[0].name, Kind::Nbuf, 28_000.0, Some(0.9)),
            cell(HITS, Kind::Nbuf, 5.0, None),
        ];
        let text = written(&cells, 2);
        assert!(text.contains("| nbuf serve | 27500 (27000 to 28000) | 1 | 2 |  |"), "{text}");
        assert!(text.contains("bound it to 30000.\nIt reached 92 % of that."), "{text}");
        assert_eq!(text.matches("\n| ").count(), 4, "{text}");
    }
}
