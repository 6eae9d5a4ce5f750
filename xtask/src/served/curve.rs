//! The S-curve of a server: rates over sizes of the cache, without a cache, with one, and with one that may step
//! aside. Needs nbdkit and fio with its engine for NBD. A round takes a quarter of an hour.

use std::fmt::Write as _;
use std::path::Path;

use anyhow::Result;

use super::load::Load;
use super::servers::{Disc, Kind, Place, Server};
use super::{IMAGE_BYTES, spread};

/// From a page to half of the image, each sixteen times the one before.
const SIZES: [u64; 5] = [4 << 10, 64 << 10, 1 << 20, 16 << 20, 256 << 20];
const KINDS: [Kind; 3] = [Kind::Plain, Kind::Nbuf, Kind::NbufAuto];

/// A load on a disc.
struct Row {
    disc: Disc,
    load: Load,
}

const fn row(disc: Disc, name: &'static str, options: &'static [&'static str]) -> Row {
    // The slow disc takes longer to fill a cache.
    let ramp = if matches!(disc, Disc::Slow) { 12 } else { 5 };
    Row { disc, load: Load { name, options, ramp, seconds: 3 } }
}

const ZIPF: [&str; 5] =
    ["--rw=randread", "--bs=4k", "--norandommap", "--random_distribution=zipf:1.1", "--iodepth=32"];
const EVEN: [&str; 4] = ["--rw=randread", "--bs=4k", "--norandommap", "--iodepth=32"];
const ONE: [&str; 4] = ["--rw=randread", "--bs=4k", "--norandommap", "--iodepth=1"];

const ROWS: [Row; 5] = [
    row(Disc::Slow, "zipf 1.1, depth 32, disc of 5 ms", &ZIPF),
    row(Disc::Slow, "even, depth 32, disc of 5 ms", &EVEN),
    row(Disc::Fast, "zipf 1.1, depth 32, image in memory", &ZIPF),
    row(Disc::Fast, "even, depth 32, image in memory", &EVEN),
    row(Disc::Fast, "even, depth 1, image in memory", &ONE),
];

/// The rate of a server.
struct Cell {
    row: usize,
    size: u64,
    kind: Kind,
    rate: f64,
}

/// Runs it in this number of rounds, and gives the table.
pub fn curve(nbuf: &Path, rounds: usize) -> Result<String> {
    super::in_folder(|folder| {
        let image = super::image(folder)?;
        let mut cells = Vec::new();
        for round in 0..rounds {
            let mut kinds = KINDS;
            kinds.rotate_left(round % KINDS.len());
            for (row, Row { disc, load }) in ROWS.iter().enumerate() {
                for cache_bytes in SIZES {
                    for kind in kinds {
                        let place = Place { nbuf, folder, image: &image, cache_bytes };
                        let server = Server::start(kind, *disc, &place)?;
                        let got = load.run(&server.uri(), &IMAGE_BYTES.to_string());
                        server.stop()?;
                        let rate = got?.rate;
                        super::say(&format!(
                            "{}, {} KiB, {}: {rate:.0} a second",
                            load.name,
                            cache_bytes >> 10,
                            kind.name()
                        ));
                        cells.push(Cell { row, size: cache_bytes, kind, rate });
                    }
                }
            }
        }
        Ok(written(&cells, rounds))
    })
}

fn written(cells: &[Cell], rounds: usize) -> String {
    let mut text = format!("Operations a second, medians of {rounds} rounds:\n\n");
    text += "| load | cache | no cache | nbuf serve | `--bypass auto` | of no cache |\n\
             |---|---|---|---|---|---|\n";
    for (row, Row { load, .. }) in ROWS.iter().enumerate() {
        for size in SIZES {
            let rate = |kind: Kind| {
                let is_it = |cell: &&Cell| (cell.row, cell.size, cell.kind) == (row, size, kind);
                let rates = cells.iter().filter(is_it).map(|cell| cell.rate);
                spread(rates.collect()).map(|(median, ..)| median)
            };
            let [Some(none), Some(off), Some(auto)] = KINDS.map(rate) else { continue };
            let size = if size < 1 << 20 {
                format!("{} KiB", size >> 10)
            } else {
                format!("{} MiB", size >> 20)
            };
            let _ = writeln!(
                text,
                "| {} | {size} | {none:.0} | {off:.0} | {auto:.0} | {:.0} % |",
                load.name,
                100.0 * auto / none
            );
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_has_the_part_of_no_cache_that_is_reached() {
        let cell = |kind, rate| Cell { row: 3, size: 4 << 10, kind, rate };
        let cells = [
            cell(Kind::Plain, 1000.0),
            cell(Kind::Nbuf, 500.0),
            cell(Kind::NbufAuto, 960.0),
            Cell { row: 2, ..cell(Kind::Plain, 1.0) },
        ];
        let text = written(&cells, 1);
        let row = "| even, depth 32, image in memory | 4 KiB | 1000 | 500 | 960 | 96 % |";
        assert!(text.contains(row), "{text}");
        assert_eq!(text.matches("\n| ").count(), 2, "{text}");
    }
}
