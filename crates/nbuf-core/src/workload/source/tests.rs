//! Tests: inputs as they come, packed and plain, whole and broken.

use std::fmt::Write as _;
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use super::*;
use crate::trace::request::{Op, Request};
use crate::trace::{CacheEvent, Facts, FileId, Record, Trace};
use crate::workload::format::{Parameters, Place, native};

/// All requests of some files.
pub(super) fn read(
    paths: &[&Path],
    options: &Options,
) -> Result<(Source, Vec<Request>), SourceError> {
    let paths: Vec<PathBuf> = paths.iter().map(|path| path.to_path_buf()).collect();
    let mut source = Source::open(&paths, options)?;
    let (mut batch, mut all) = (Batch::default(), Vec::new());
    while source.next(&mut batch)? {
        assert!(!batch.requests.is_empty());
        all.extend_from_slice(&batch.requests);
    }
    assert!(!source.next(&mut batch)? && batch.requests.is_empty());
    Ok((source, all))
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut packer = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    packer.write_all(bytes).unwrap();
    packer.finish().unwrap()
}

fn xz(bytes: &[u8]) -> Vec<u8> {
    let mut packer = liblzma::write::XzEncoder::new(Vec::new(), 1);
    packer.write_all(bytes).unwrap();
    packer.finish().unwrap()
}

fn zst(bytes: &[u8]) -> Vec<u8> {
    zstd::encode_all(bytes, 1).unwrap()
}

/// Numbers enough for several blocks, as lines.
fn lines() -> Vec<u8> {
    let lines: Vec<String> = want().iter().map(u64::to_string).collect();
    (lines.join("\n") + "\n").into_bytes()
}

/// Numbers that do not pack well.
fn want() -> Vec<u64> {
    (0..100_000_u64).map(|number| number.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 44).collect()
}

fn keys(requests: &[Request]) -> Vec<u64> {
    requests.iter().map(|request| request.offset).collect()
}

#[test]
fn what_packs_an_input_is_found_by_its_bytes() {
    let directory = tempfile::tempdir().unwrap();
    let plain = lines();
    let want = want();
    let (first, second) = plain.split_at(345_678);
    let packings = [
        ("plain", plain.clone(), Packing::None),
        ("gzip", gzip(&plain), Packing::Gzip),
        ("members", [gzip(first), gzip(second)].concat(), Packing::Gzip),
        ("xz", xz(&plain), Packing::Xz),
        ("streams", [xz(first), xz(second)].concat(), Packing::Xz),
        ("zstd", zst(&plain), Packing::Zstd),
        ("frames", [zst(first), zst(second)].concat(), Packing::Zstd),
    ];
    for (name, bytes, packing) in packings {
        let path = directory.path().join(name);
        fs::write(&path, bytes).unwrap();
        let (source, requests) = read(&[&path], &Options::default()).unwrap();
        assert_eq!(keys(&requests), want, "{name}");
        assert_eq!((source.detected().packing, source.problems().count), (packing, 0), "{name}");
        assert_eq!(source.detected().format.name, "lirs");
    }
}

#[test]
fn of_a_file_that_is_cut_off_the_first_part_is_used_and_the_rest_is_said() {
    let directory = tempfile::tempdir().unwrap();
    let plain = lines();
    let want = want();
    for (name, packed) in [("gzip", gzip(&plain)), ("xz", xz(&plain)), ("zstd", zst(&plain))] {
        let path = directory.path().join(name);
        fs::write(&path, &packed[..packed.len() * 3 / 4]).unwrap();
        let (source, requests) = read(&[&path], &Options::default()).unwrap();
        // The last number may have lost digits.
        let whole = requests.len() - 1;
        assert!(whole > 30_000, "{name}: {whole}");
        assert_eq!(keys(&requests[..whole]), want[..whole], "{name}");
        let problems = source.problems();
        assert_eq!(problems.count, 1, "{name}: {problems:?}");
        let said = source.describe(&problems.kept[0]);
        assert!(said.contains(&format!("the {name} data end here or are damaged")), "{said}");
    }
}

#[test]
fn several_inputs_are_one_trace() {
    let directory = tempfile::tempdir().unwrap();
    let paths = ["a", "b"].map(|name| directory.path().join(name));
    fs::write(&paths[0], "1\n2\n3").unwrap();
    fs::write(&paths[1], gzip(b"4\n*\nfive\n6\n7\n8\n9\n10\n11\n12\n13\n14\n")).unwrap();
    let (source, requests) = read(&[&paths[0], &paths[1]], &Options::default()).unwrap();
    assert_eq!(keys(&requests), [1, 2, 3, 4, 6, 7, 8, 9, 10, 11, 12, 13, 14]);
    assert_eq!(source.problems().count, 1);
    let said = source.describe(&source.problems().kept[0]);
    let want = format!("{}, line 3: expected a block number, found `five`", paths[1].display());
    assert_eq!(said, want);
}

#[test]
fn records_that_are_cut_by_blocks_are_whole() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("t.oracleGeneral");
    let mut bytes = Vec::new();
    for number in 0..50_000_u32 {
        bytes.extend(number.to_le_bytes());
        bytes.extend(u64::from(number % 7).to_le_bytes());
        bytes.extend(100_u32.to_le_bytes());
        bytes.extend((if number < 49_993 { i64::from(number) + 8 } else { -1 }).to_le_bytes());
    }
    fs::write(&path, &bytes[..bytes.len() - 5]).unwrap();
    let (source, requests) = read(&[&path], &Options::default()).unwrap();
    assert_eq!(source.detected().to_string(), "oracleGeneral (keys), not compressed");
    assert_eq!(requests.len(), 49_999);
    let want = Request { time_ns: 49_998_000_000_000, ..Request::new(Op::Read, 49_998 % 7, 100) };
    assert_eq!(requests.last(), Some(&want));
    let said = source.describe(&source.problems().kept[0]);
    assert!(
        said.ends_with("byte 1199976: the input ends 19 bytes into a record of 24; copy it again"),
        "{said}"
    );
}

#[test]
fn what_is_no_trace_is_said_in_a_line() {
    let directory = tempfile::tempdir().unwrap();
    let file = |name: &str, bytes: &[u8]| {
        let path = directory.path().join(name);
        fs::write(&path, bytes).unwrap();
        path
    };
    let named = |name: &str| Options { format: Some(name.parse().unwrap()), ..Options::default() };
    let liars = Parameters { format: "liars".to_owned(), ..Parameters::default() };
    let unknown = Options { format: Some(liars), ..Options::default() };
    let cases = [
        (file("empty", b""), Options::default(), "is empty"),
        (file("empty.gz", &gzip(b"")), Options::default(), "is empty"),
        (directory.path().to_owned(), Options::default(), "is a directory"),
        (directory.path().join("none"), Options::default(), "cannot open"),
        (
            file("elf", b"\x7fELF\x02\x01\x01\0\0\0"),
            Options::default(),
            "a binary file of no known format",
        ),
        (
            file("prose", b"Dear Sir,\nI write\tto you\n"),
            Options::default(),
            "a text of no known format",
        ),
        // As long as two records of oracleGeneral.
        (
            file("48", b"Dear Sir I write to you\nDearest, I write to you\n"),
            Options::default(),
            "a text of no",
        ),
        (file("a", b"1\n"), unknown, "there is no format `liars`"),
        (file("b", b"1\n"), named("lirs:x=1"), "`lirs` has no parameter `x`"),
        (file("f.gz", &gzip(b"1\n")[..9]), Options::default(), "the gzip data of"),
        (file("c", b"PAR1PAR1"), Options::default(), "the trace is cut off"),
    ];
    for (path, options, want) in cases {
        let Err(error) = read(&[&path], &options) else {
            panic!("{} was read", path.display());
        };
        let error = error.to_string();
        assert!(error.contains(want) && !error.contains('\n'), "{error}");
    }
    let bad = file("bad", &b"x\n".repeat(1001));
    let Err(error) = read(&[&bad], &named("lirs")) else { panic!("nonsense was read") };
    assert!(error.to_string().starts_with("1001 records cannot be read, the first at "), "{error}");
}

#[test]
fn many_threads_make_what_one_makes() {
    let directory = tempfile::tempdir().unwrap();
    let mut text = String::new();
    for number in 1..=60_000_u32 {
        // A new volume now and then, and a line in ten thousand that is none.
        let volume = number / 5000 * 3 % 7;
        match number % 10_000 {
            7 => text.push_str("nonsense\n"),
            _ => writeln!(text, "{volume},R,{},4096,{number}", u64::from(number) * 512).unwrap(),
        }
    }
    let path = directory.path().join("many.csv");
    fs::write(&path, &text).unwrap();
    let (source, requests) = read(&[&path], &Options::default()).unwrap();
    assert_eq!(source.detected().format.name, "alibaba");
    assert_eq!(source.objects(), ["0", "3", "6", "2", "5", "1", "4"]);
    let lines: Vec<Place> = source.problems().kept.iter().map(|problem| problem.place).collect();
    let want = [7, 10_007, 20_007, 30_007, 40_007, 50_007].map(Place::Line);
    assert_eq!(lines, want);
    let numbers = (1..=60_000_u32).filter(|number| number % 10_000 != 7);
    assert_eq!(requests.len(), 59_994);
    for (request, number) in requests.iter().zip(numbers) {
        assert_eq!(request.time_ns, i64::from(number) * 1000);
        let volume = number / 5000 * 3 % 7;
        assert_eq!(source.objects()[request.object as usize], volume.to_string());
    }
}

#[test]
fn inputs_are_merged_by_time() {
    let directory = tempfile::tempdir().unwrap();
    let paths = ["a", "b", "c"].map(|name| directory.path().join(name));
    fs::write(&paths[0], "1,R,0,1,5\n2,R,1,1,7\n1,R,2,1,9\n").unwrap();
    fs::write(
        &paths[1],
        "3,R,3,1,6\nx\n1,R,4,1,7\n3,R,5,1,8\n3,R,6,1,8\n3,R,7,1,8\n3,R,8,1,8\n\
        3,R,9,1,8\n3,R,10,1,8\n3,R,11,1,8\n",
    )
    .unwrap();
    fs::write(&paths[2], gzip(b"2,W,12,1,1\n")).unwrap();
    let options = Options { merge: true, ..Options::default() };
    let (source, requests) = read(&[&paths[0], &paths[1], &paths[2]], &options).unwrap();
    assert_eq!(keys(&requests), [12, 0, 3, 1, 4, 5, 6, 7, 8, 9, 10, 11, 2]);
    assert_eq!(source.objects(), ["2", "1", "3"]);
    let objects: Vec<u32> = requests.iter().map(|request| request.object).take(5).collect();
    assert_eq!(objects, [0, 1, 2, 0, 1]);
    let said = source.describe(&source.problems().kept[0]);
    assert!(said.starts_with(&format!("{}, line 2: ", paths[1].display())), "{said}");
}

#[test]
fn keys_and_bytes_are_not_one_trace() {
    let directory = tempfile::tempdir().unwrap();
    let paths = ["a", "b"].map(|name| directory.path().join(name));
    fs::write(&paths[0], "1,R,0,1,5\n").unwrap();
    fs::write(&paths[1], "17\n").unwrap();
    let Err(error) = read(&[&paths[0], &paths[1]], &Options::default()) else {
        panic!("bytes and keys were mixed");
    };
    assert!(error.to_string().ends_with(
        "counts keys, and the inputs before it count bytes: read them in separate commands"
    ));
}

/// Writes a native trace of this many reads.
fn write_native(path: &Path, reads: u32) {
    let record = |at: u32| Record {
        time_ns: at.into(),
        offset_bytes: u64::from(at) * 4096,
        file_bytes: 1 << 40,
        length_bytes: 4096,
        file: FileId(0),
        task: 1,
        request: at,
        op: CacheEvent::Read,
    };
    let records: Vec<Record> = (0..reads).map(record).collect();
    let (records, files) = (records.into(), vec!["/a".to_owned()]);
    let trace = Trace { records, files, facts: Facts::default() };
    native::write(&trace, fs::File::create(path).unwrap()).unwrap();
}

#[test]
fn a_native_trace_counts_when_it_is_loaded_and_again_when_it_is_handed_over() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("a.parquet");
    write_native(&path, 50_000);

    let loaded = std::cell::RefCell::new(Vec::new());
    let loading = |done: u64, total: u64| loaded.borrow_mut().push((done, total));
    let paths = std::slice::from_ref(&path);
    let opening = Opening { loading: &loading, ..Opening::default() };
    let mut source = Source::open_with(paths, &Options::default(), &opening).unwrap();
    assert_eq!(*loaded.borrow(), [(0, 50_000), (50_000, 50_000)]);
    let all = fs::metadata(&path).unwrap().len();
    let done = |source: &Source| {
        let Progress { done_bytes, total_bytes } = source.progress().unwrap();
        assert_eq!(total_bytes, all);
        done_bytes
    };
    assert_eq!(done(&source), 0);
    let (mut batch, mut before, mut batches) = (Batch::default(), 0, 0);
    while source.next(&mut batch).unwrap() {
        assert!(done(&source) > before, "{before} of {all} bytes");
        before = done(&source);
        batches += 1;
    }
    assert!(batches > 1);
    assert_eq!(before, all);
}

#[test]
fn empty_inputs_are_left_out_with_their_clocks_and_their_problems_stay_apart() {
    let directory = tempfile::tempdir().unwrap();
    let paths = ["a", "b", "c", "d"].map(|name| directory.path().join(name));
    fs::write(&paths[0], "").unwrap();
    fs::write(&paths[1], "1,R,0,1,5\n1,R,1,1,7\n").unwrap();
    fs::write(&paths[2], gzip(b"")).unwrap();
    let last =
        (3..13).fold("2,R,2,1,1\nx\n".to_owned(), |text, at| text + &format!("2,R,{at},1,2\n"));
    fs::write(&paths[3], last).unwrap();
    let options =
        Options { merge: true, later_ns: vec![9_000, 0, 8_000, 5_000], ..Options::default() };
    let opening = Opening { skips_empty: true, ..Opening::default() };
    let mut source = Source::open_with(&paths, &options, &opening).unwrap();
    let (mut batch, mut got) = (Batch::default(), Vec::new());
    while source.next(&mut batch).unwrap() {
        got.extend_from_slice(&batch.requests);
    }
    // The second begins 5 us later.
    assert_eq!(keys(&got), [0, 2, 1, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]);
    let said = source.describe(&source.problems().kept[0]);
    assert!(said.starts_with(&format!("{}, line 2: ", paths[3].display())), "{said}");
    let none = Source::open_with(&[paths[2].clone(), paths[0].clone()], &options, &opening);
    assert!(matches!(none, Err(SourceError::Empty { path }) if path == paths[2]));
    assert!(
        matches!(Source::open(&paths, &options), Err(SourceError::Empty { path }) if path == paths[0])
    );
}

#[test]
fn inputs_between_empty_ones_are_opened_once() {
    let directory = tempfile::tempdir().unwrap();
    let paths = ["a", "b", "c", "d"].map(|name| directory.path().join(name));
    for (path, reads) in paths.iter().zip([10, 0, 20, 0]) {
        if reads > 0 {
            write_native(path, reads);
        } else {
            fs::write(path, "").unwrap();
        }
    }
    let loaded = std::cell::RefCell::new(Vec::new());
    let loading = |done: u64, total: u64| loaded.borrow_mut().push((done, total));
    let opening = Opening { loading: &loading, skips_empty: true, ..Opening::default() };
    Source::open_with(&paths, &Options::default(), &opening).unwrap();
    assert_eq!(*loaded.borrow(), [(0, 10), (10, 10), (0, 20), (20, 20)]);
}
