//! How fast traces are read: `cargo run --release -p nbuf-core --example read_speed [-- REQUESTS [DIR]]`.
//!
//! Writes files of some formats with REQUESTS requests (100 000 by default) into a directory and
//! reads each five times. The best elapsed time counts, and the mean of the processor time (all
//! threads, in steps of 10 ms). With a large number the files should fit into memory.

#![expect(clippy::print_stdout, reason = "an example is a program")]

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use nbuf::internal::clock::Stopwatch;
use nbuf::workload::format::Batch;
use nbuf::workload::source::{Options, Source};

/// Times each file is read.
const REPEATS: u32 = 5;

/// What lines look like.
type Line = fn(u64, u64, &mut Vec<u8>);

/// Text formats: how they are named to the reader, and a line of theirs.
const TEXTS: [(&str, &str, Line); 9] = [
    ("csv", "csv:key=2,size=4,time=1,op=3", |number, key, out| {
        let op = if key.is_multiple_of(3) { "w" } else { "r" };
        writeln!(out, "{},{},{op},4096", 1_538_323_200 + number / 1000, key << 12).unwrap();
    }),
    ("msr", "msr", |number, key, out| {
        let time = 128_166_372_003_061_629 + number * 77;
        writeln!(out, "{time},usr,1,Read,{},32768,41286", key << 12).unwrap();
    }),
    ("lirs", "lirs", |_, key, out| writeln!(out, "{key}").unwrap()),
    ("twitter", "twitter", |number, key, out| {
        writeln!(out, "{},q:q:1:{key:x}fjZU14ee,17,213,4,get,0", number / 1000).unwrap();
    }),
    ("blkparse", "blkparse", |number, key, out| {
        let seconds = number / 1000;
        writeln!(
            out,
            "  8,0    3 {number:8} {seconds:5}.000000000   697  Q   W {} + 8 [kjournald]",
            key << 3
        )
        .unwrap();
    }),
    ("perf", "perf", |number, key, out| {
        let (seconds, first) = (number / 1000, key << 12);
        let event = "filemap:mm_filemap_get_pages: dev=254:0 ino=4f8cb";
        writeln!(out, "cat  9103 [001] {seconds:5}.000000: {event} ofs={first}-{}", first + 4095)
            .unwrap();
    }),
    ("strace", "strace", |number, key, out| {
        let (seconds, first) = (number / 1000, key << 12);
        writeln!(out, "697 {seconds}.000000 pread64(3</var/db>, \"x\"..., 4096, {first}) = 4096")
            .unwrap();
    }),
    ("fio", "fio", |number, key, out| {
        if number == 0 {
            out.extend(b"fio version 2 iolog\n/var/db add\n/var/db open\n");
        }
        writeln!(out, "/var/db read {} 4096", key << 12).unwrap();
    }),
    ("keys", "keys", |_, key, out| writeln!(out, "/wiki/{key:x}.html").unwrap()),
];

fn main() {
    let mut arguments = std::env::args().skip(1);
    let requests: u64 = arguments.next().map_or(100_000, |count| count.parse().expect("a number"));
    let directory = arguments.next().map_or_else(std::env::temp_dir, PathBuf::from);
    let directory = directory.join(format!("nbuf-read-speed-{}", std::process::id()));
    fs::create_dir(&directory).expect("a new directory");
    let path = directory.join("t.oracleGeneral");
    write(&path, requests, |number, key, out| {
        out.extend(u32::try_from(number / 1000).unwrap_or(u32::MAX).to_le_bytes());
        out.extend(key.to_le_bytes());
        out.extend(4096_u32.to_le_bytes());
        out.extend((-1_i64).to_le_bytes());
    });
    measure("oracleGeneral", &path, "oracleGeneral", requests);
    let packed = directory.join("t.oracleGeneral.zst");
    let bytes = fs::read(&path).expect("what was written");
    fs::write(&packed, zstd::encode_all(&bytes[..], 1).expect("packing")).expect("room");
    drop(bytes);
    measure("oracleGeneral, zstd", &packed, "oracleGeneral", requests);
    for (name, format, line) in TEXTS {
        let path = directory.join(name);
        write(&path, requests, line);
        measure(name, &path, format, requests);
        fs::remove_file(path).expect("our file");
    }
    fs::remove_dir_all(directory).expect("our directory");
}

/// Writes a file of `requests` records, whose keys jump.
fn write(path: &Path, requests: u64, mut line: impl FnMut(u64, u64, &mut Vec<u8>)) {
    let mut file = fs::File::create(path).expect("a new file");
    let mut out = Vec::new();
    for number in 0..requests {
        let key = number.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 44;
        line(number, key, &mut out);
        if out.len() > 1 << 20 || number + 1 == requests {
            file.write_all(&out).expect("room for the file");
            out.clear();
        }
    }
}

fn measure(name: &str, path: &Path, format: &str, requests: u64) {
    let bytes = fs::metadata(path).expect("our file").len();
    let mut best = f64::INFINITY;
    let before = processor_seconds();
    for _ in 0..REPEATS {
        let watch = Stopwatch::start();
        let options =
            Options { format: Some(format.parse().expect("a format")), ..Options::default() };
        let mut source = Source::open(&[path.to_owned()], &options).expect("a trace");
        let (mut batch, mut count, mut sum) = (Batch::default(), 0, 0_u64);
        while source.next(&mut batch).expect("a trace") {
            count += batch.requests.len() as u64;
            for request in &batch.requests {
                sum = sum.wrapping_add(request.offset);
            }
        }
        best = best.min(watch.elapsed().as_secs_f64());
        assert_eq!((count, source.problems().count), (requests, 0), "{name}, sum {sum}");
    }
    let processor = (processor_seconds() - before) / f64::from(REPEATS);
    let (each, millions) = (bytes as f64 / requests as f64, requests as f64 / 1e6);
    println!(
        "{name:20} {each:5.1} B each  {best:7.3} s elapsed {:6.1} M/s {:6.0} MB/s   \
         {processor:7.3} s of processors {:6.1} M/s",
        millions / best,
        bytes as f64 / best / 1e6,
        millions / processor
    );
}

/// What this process has used, user and system.
fn processor_seconds() -> f64 {
    let stat = fs::read_to_string("/proc/self/stat").expect("Linux");
    let (_, fields) = stat.rsplit_once(')').expect("a name in parentheses");
    let ticks = fields.split_whitespace().skip(11).take(2);
    ticks.map(|ticks| ticks.parse::<f64>().expect("a number")).sum::<f64>() / 100.0
}
