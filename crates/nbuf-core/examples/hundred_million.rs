//! A hundred million accesses: written as a log, made a trace, read again, and predicted; with the
//! most memory this has taken so far after each step.
//!
//! `cargo run --release -p nbuf-core --example hundred_million DIRECTORY [ACCESSES]`, where the
//! directory has room for 2 GB, and each step is a process of its own, as with `nbuf`.

#![expect(clippy::print_stdout, reason = "an example prints")]

use std::error::Error;
use std::fs::File;
use std::io::BufWriter;
use std::path::{Path, PathBuf};
use std::process::Command;

use nbuf::experiment::size::{Analysis, Ask};
use nbuf::internal::clock::{Random, Stopwatch};
use nbuf::internal::meter::residency::Residency;
use nbuf::internal::workload::record::log::{Entry, Event, FileSeen, Kind, LogWriter};
use nbuf::internal::workload::record::trace_of_log;
use nbuf::trace::{Device, Facts};
use nbuf::units::whole;
use nbuf::workload::format::native;

const FILE_PAGES: u32 = 1 << 18;
const DEVICE: u32 = 254 << 20;

type Outcome = Result<(), Box<dyn Error>>;

fn main() -> Outcome {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let [directory, rest @ ..] = &words[..] else {
        return Err("which directory has room for 2 GB? name it".into());
    };
    let path = |name: &str| -> PathBuf { Path::new(directory).join(name) };
    let (log, trace) = (path("hundred-million.log"), path("hundred-million.parquet"));
    let clock = Stopwatch::start();
    match rest {
        [accesses, "record"] => record(accesses.parse()?, &log)?,
        [_, "convert"] => {
            let converted = trace_of_log(File::open(&log)?)?;
            native::write(&converted, BufWriter::new(File::create(&trace)?))?;
        }
        [_, "predict"] => predict(&trace)?,
        _ => {
            let accesses = rest.first().copied().unwrap_or("100000000");
            for step in ["record", "convert", "predict"] {
                let program = std::env::current_exe()?;
                let ended = Command::new(program).args([directory, accesses, step]).status()?;
                if !ended.success() {
                    return Err(format!("{step}: {ended}").into());
                }
            }
            std::fs::remove_file(log)?;
            std::fs::remove_file(trace)?;
            return Ok(());
        }
    }
    said(rest[1], &clock)
}

/// Tells how long a step took, and the most memory that it held.
fn said(step: &str, clock: &Stopwatch) -> Outcome {
    let status = std::fs::read_to_string("/proc/self/status")?;
    let most = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kilobytes: u64 =
        most.and_then(|most| most.trim().split(' ').next()).unwrap_or("0").parse()?;
    println!("{step}: {:.0} s, at most {} MiB", clock.elapsed().as_secs_f64(), kilobytes >> 10);
    Ok(())
}

/// Two tasks read skewed pages of a file of 1 GiB, one read in four fills its page.
fn record(accesses: u32, path: &Path) -> Outcome {
    let mut random = Random::new(1);
    let device = Device {
        major: 254,
        minor: 0,
        name: "vda".into(),
        filesystem: "ext4".into(),
        readahead_bytes: 128 << 10,
        io_bytes: 1280 << 10,
        folio_order_max: 9,
    };
    let facts = Facts {
        devices: vec![device],
        elapsed_ns: 2_000 * u64::from(accesses),
        ..Facts::default()
    };
    let facts = serde_json::to_vec(&facts)?;
    let mut log = LogWriter::new(BufWriter::new(File::create(path)?))?;
    log.push(&Entry::Start(facts.clone()))?;
    let file_bytes = u64::from(FILE_PAGES) * 4096;
    let (time_ns, inode, path) = (0, 7, Some(b"/data".to_vec()));
    log.push(&Entry::File(FileSeen { time_ns, device: DEVICE, inode, file_bytes, path }))?;
    let mut time_ns = 0;
    for access in 0..accesses {
        time_ns += 1_000 + random.below(2_000);
        let index = whole(random.unit().powi(4) * f64::from(FILE_PAGES - 1));
        let task = 4_000 + access % 16 / 15;
        let event = |kind, index, extent| {
            Entry::Event(Event { time_ns, task, kind, device: DEVICE, inode, index, extent })
        };
        if access % 4 == 0 {
            log.push(&event(Kind::Add, index, 0))?;
        }
        log.push(&event(Kind::GetPages, index, index))?;
    }
    log.push(&Entry::End(facts))?;
    log.finish()?;
    Ok(())
}

fn predict(path: &Path) -> Outcome {
    let trace = native::read(File::open(path)?)?;
    let records = trace.records.len();
    println!("{records} records of {} bytes in Parquet", std::fs::metadata(path)?.len());
    let ask = Ask { force: true, ..Ask::default() };
    let analysis = Analysis::of(trace, &Residency::default(), &ask, &|_, _| {})?;
    let sizes = analysis.curve.points.iter().filter(|point| !point.interpolated).count();
    println!("{} accesses, {sizes} sizes", analysis.curve.accesses);
    Ok(())
}
