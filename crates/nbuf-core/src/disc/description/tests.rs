//! Tests the drives that descriptions give, and the errors of wrong ones.

use proptest::prelude::*;

use super::*;
use crate::disc::model::Model;
use crate::disc::model::drive::{Ahead, Drive};
use crate::disc::{Disc as _, wait_for};
use crate::trace::request::{Op, Request};

fn drive(
    text: &str,
    read: &mut dyn FnMut(&str) -> Result<String, String>,
) -> Result<Drive, DescriptionError> {
    parse(text, read)?.drive()
}

const MODEL: &str = "dm_disk M {
   Number of data surfaces = 2, # two
   Number of cylinders = 9,
   Block count = 119,
   Layout Model = dm_layout_g1 {
      LBN-to-PBN mapping scheme = 0,
      Sparing scheme used = 9,
      Rangesize for sparing = 1,
      Zones = [
         dm_layout_g1_zone {
            First cylinder number = 0,
            Last cylinder number = 8,
            Blocks per track = 7,
            Offset of first block = 0.5,
            Empty space at zone front = 3,
            Skew for track switch = 1,
            Skew for cylinder switch = 2,
            Number of spares = 4,
            slips = [ 1, 5 ],
            defects = [ 9, 9 ]
         }
      ]
   },
   Mechanical Model = dm_mech_g1 {
      Access time type = trackSwitchPlusRotation,
      Seek type = hplplus10,
      Add. write settling delay = -0.5,
      HPL seek equation values = [ 300, 3.81, 0.33, 7.75, 0.0059, -1.0 ],
      First ten seek times = [ 1, 2, 3, 4, 5, 6, 7, 8, 9, 10 ],
      Head switch time = 1.0,
      Rotation speed (in rpms) = 6000,
      Percent error in rpms = 0.0
   }
}
";

const SPECS: &str = "disksim_disk D {
   Model = source m.model,
   Per-request overhead time = 0.5,
   Time scale for overheads = 2.0,
   Bulk sector transfer time = 0.1,
   Never disconnect = 0,
   Scheduler = disksim_ioqueue { Scheduling policy = 7 },
   Number of buffer segments = 3,
   Maximum number of write segments = 2,
   Segment size (in blks) = 64,
   Use separate write segment = 1,
   High (read) water mark = 0.75,
   Set watermark by reqsize = 1,
   Enable caching in buffer = 1,
   Buffer continuous read = 2,
   Maximum read-ahead (blks) = 32,
   Fast write level = 0,
   Combine seq writes = 1,
   Read hit over. after read = 1,
   Write hit over. after read = 7,
   Write miss over. after read = 3,
   Write miss over. after write = 4,
   First reselect overhead = 0.25,
   Extra write disconnect = 1,
   Extradisc command overhead = 0.75,
   Minimum seek delay = 0.6
}
";

const SYSTEM: &str = "disksim_global G { Init Seed = 42, Unheard of = [ a, b ] }
disksim_bus NEAR { type = 1, Read block transfer time = 0.2, Write block transfer time = 0.05 }
disksim_bus FAR { Read block transfer time = 9.0 }
source d.diskspecs
instantiate [ bus0 ] as FAR
instantiate [ bus1 ] as NEAR
instantiate [ d0 .. d3, d9 ] as D
topology disksim_iodriver driver0 [ disksim_bus bus0 [ disksim_ctlr c [ disksim_bus bus1 [ disksim_disk d9 [] ] ] ] ]
";

fn read(name: &str) -> Result<String, String> {
    match name {
        "m.model" => Ok(MODEL.to_owned()),
        "d.diskspecs" => Ok(SPECS.to_owned()),
        "loop.parv" => Ok("source loop.parv".to_owned()),
        _ => Err(format!("there is no {name}")),
    }
}

#[test]
fn a_system_file_reaches_its_drive_and_its_bus() {
    let drive = drive(SYSTEM, &mut read).unwrap();
    // Two times nine tracks of seven; the slips are two of the spares.
    assert_eq!(drive.geometry.sectors(), 9 * 2 * 7 - 3 - 4);
    let controller = drive.controller;
    let us = |time: crate::units::Nanos| time.0 / 1_000;
    assert_eq!((us(controller.bus_read_sector), us(controller.bus_write_sector)), (200, 100));
    assert_eq!(
        us(controller.read_hit.read),
        3_000,
        "twice the overhead, and the overhead of each request"
    );
    assert_eq!((us(controller.write.read), us(controller.write.write)), (7_000, 9_000));
    assert_eq!(us(controller.write_seek_min), 600);
    let disconnect = controller.disconnect.unwrap();
    assert_eq!(us(disconnect.reselect), 500);
    assert_eq!(us(disconnect.extra_write.unwrap().command), 2_500);
    assert!((disconnect.read_watermark.part - 0.75).abs() < 1e-9);
    assert_eq!((drive.buffer.segments, drive.buffer.behind_segments), (2, 0));
    assert_eq!(drive.buffer.ahead, Ahead::Cylinder(32));
    assert_eq!(drive.write_settle_ns, -500_000);
    assert_eq!(drive.scheduler, crate::disc::model::Scheduler::Sstf);
    let seek = |distance| us(drive.seek.time(distance));
    assert_eq!([seek(1), seek(10), seek(100), seek(300)], [1_000, 10_000, 7_110, 9_520]);
}

#[test]
fn what_is_described_is_the_same_in_our_own_words() {
    for text in [MODEL, SPECS, SYSTEM] {
        let document = parse(text, &mut read).unwrap();
        let ours = document.text().unwrap();
        let again = parse(&ours, &mut read).unwrap();
        assert_eq!((again.drive(), &again), (document.drive(), &document), "{ours}");
    }
}

#[test]
fn what_is_wrong_is_named_with_its_line() {
    let check = |text: &str, from: &str, to: &str, want: &str| {
        assert!(text.contains(from), "{from}");
        let said = drive(&text.replacen(from, to, 1), &mut read).unwrap_err().to_string();
        assert!(said.starts_with(want) && !said.contains('\n'), "{said}");
    };
    check(
        MODEL,
        "Number of spares",
        "Spares",
        "line 18: `dm_layout_g1_zone` has no parameter `Spares`",
    );
    check(
        MODEL,
        "Head switch time",
        "Head time",
        "line 30: `dm_mech_g1` has no parameter `Head time`",
    );
    check(
        MODEL,
        "= 9,\n      Range",
        "= 11,\n      Range",
        "line 7: `Sparing scheme used` is beyond 10",
    );
    check(MODEL, "dm_layout_g1 {", "dm_layout_g4 {", "line 5: `dm_layout_g4` is not modelled here");
    check(MODEL, "hplplus10", "quick", "line 26: `Seek type` is quick: constant, linear,");
    check(
        MODEL,
        "error in rpms = 0.0",
        "error in rpms = 2.0",
        "line 32: `Percent error in rpms` is not 0",
    );
    check(MODEL, "[ 9, 9 ]", "[ 9 ]", "line 20: `defects` are pairs");
    check(
        MODEL,
        "Blocks per track = 7",
        "Blocks per track = seven",
        "line 13: `Blocks per track` is no number",
    );
    check(MODEL, "      ]\n   },", "      \n   },", "line 23: `,` or `]` is missing in a list");
    check(MODEL, "Number of spares = 4", "Number of spares = 400", "no zone has sectors");
    check(
        SPECS,
        "Fast write",
        "Slow write",
        "line 17: `disksim_disk` has no parameter `Slow write level`",
    );
    check(SPECS, "m.model", "n.model", "line 2: there is no n.model");
    check(SPECS, "policy = 7", "policy = 12", "line 7: `Scheduling policy` is 12");
    check(
        SYSTEM,
        "Write block",
        "Wrote block",
        "line 2: `disksim_bus` has no parameter `Wrote block",
    );
    check(SYSTEM, "d.diskspecs", "loop.parv", "loop.parv, line 1: files name more than");
    check(SYSTEM, "[ d0 .. d3, d9 ] as D", "[ d9 ] as E", "neither a `dm_disk` nor");
    let ours = parse(SPECS, &mut read).unwrap().text().unwrap();
    check(&ours, "surfaces = 2", "surface = 2", "line 5: unknown field `surface`");
    check(&ours, "surfaces = 2", "surfaces = 0", "`surfaces` is 0");
    check(&ours, "nbuf.disc.v1", "nbuf.disc.v2", "`schema` is \"nbuf.disc.v2\"");
    check(&ours, "read_watermark = 0.75", "read_watermark = 75", "`read_watermark` is 75");
    check(&ours, "last_cylinder = 8", "last_cylinder = 8000000", "zone 0: cylinders 0 to 8000000");
}

/// The phases of a request, calculated by hand for a drive that releases the bus.
#[test]
fn the_phases_of_a_request_add_up() {
    let ours = "schema = 'nbuf.disc.v1'\nwhat = 't'\nsector_bytes = 512\nsurfaces = 1\nrotation_rpm = 6000\n\
                [seek]\nconstant_ms = 2\n[overhead]\nread_miss_ms = [0.5, 0.5]\nwrite_ms = [0.5, 0.5]\n\
                read_end_ms = 0.1\nprepare_ms = 0.2\nwrite_seek_min_ms = 1\n[bus]\nread_sector_ms = 2\n\
                write_sector_ms = 0.25\n[disconnect]\nreselect_ms = 0.3\nreselect_other_ms = 0.4\n\
                read_watermark = 0.75\nholds_reads = true\n[disconnect.extra_write]\ncommand_ms = 0.6\n\
                seek_ms = 0.05\n[buffer]\nsegments = 1\nsegment_sectors = 64\n[[zone]]\nfirst_cylinder = 0\n\
                last_cylinder = 9\nsectors_per_track = 10\n";
    let mut disc = Model::new(drive(ours, &mut read).unwrap());
    let mut ask = |op, sector: u64, ms: f64, want_ms: f64| {
        let request = Request::new(op, sector * 512, 4 * 512);
        let now = crate::units::Nanos::from_millis(ms);
        let took = (wait_for(&mut disc, now, request, Vec::new()).unwrap().at - now).millis();
        assert!((took - want_ms).abs() < 1e-3, "{op:?} {sector}: {took}, not {want_ms}");
    };
    // From 0.5 the head waits for sector 0 until 10. Three sectors are there at 13; 0.5 and 4 * 2
    // follow.
    ask(Op::Read, 0, 0.0, 13.0 + 0.5 + 8.0 + 0.1);
    // From 100.5 the arm has 1 ms to get ready. Sector 5 comes at 105, and four sectors end at 109.
    ask(Op::Write, 5, 100.0, 9.0 + 0.3);
    // The next write does not continue there and releases the bus twice. It is ready at 201.65, and
    // sector 2 comes at 202.
    ask(Op::Write, 2, 200.0, 6.0 + 0.4);
}

proptest! {
    /// No truncated, altered or mixed text causes a panic, and every valid drive serves requests.
    #[test]
    fn no_text_panics(
        which in 0..4_usize,
        cut in 0..2_500_usize,
        from in 0..2_500_usize,
        text in "[ -~\n]{0,60}",
        number in prop::option::of((0..60_usize, any::<f64>())),
    ) {
        let ours = parse(SYSTEM, &mut read).unwrap().text().unwrap();
        let mut broken = [MODEL, SPECS, SYSTEM, &ours][which].to_owned();
        if let Some((at, number)) = number {
            // Replaces one of its numbers.
            let digits: Vec<usize> = broken.match_indices("= ").map(|(at, _)| at + 2).collect();
            let at = digits[at % digits.len()];
            let end = broken[at..].find([',', '\n', ' ']).map_or(broken.len(), |end| at + end);
            broken.replace_range(at..end, &number.to_string());
        } else {
            broken.truncate(cut);
            broken.insert_str(from.min(broken.len()), &text);
        }
        let Ok(drive) = drive(&broken, &mut read) else { return Ok(()) };
        let mut disc = Model::new(drive);
        for (op, part) in [(Op::Read, 3), (Op::Write, 5), (Op::Read, 8)] {
            let request = Request::new(op, disc.size_bytes() / 8 * part / 2, 4_096);
            let done = wait_for(&mut disc, crate::units::Nanos::ZERO, request, Vec::new());
            prop_assert!(done.is_some());
        }
    }
}
