//! What is recorded of small commands whose every access is known, on every file system that can
//! be made here. Runs its cases one after the other in a process of its own, as root.

#![expect(clippy::print_stdout, reason = "a test without a harness reports for itself")]

#[path = "support/cases.rs"]
mod cases;
mod support;
#[expect(dead_code, reason = "a kernel without a tracepoint fails this test")]
#[path = "../../nbuf/tests/support/tracepoints.rs"]
mod tracepoints;
#[path = "support/volume.rs"]
mod volume;

use std::collections::BTreeMap;
use std::fs::File;
use std::io::Cursor;
use std::process::{Command as Tool, ExitCode, Stdio};

use cases::{CASES, Case, PREPARE, PREPARE_ONCE};
use nbuf::internal::sys::signal::Signals;
use nbuf::internal::workload::command::Command;
use nbuf::internal::workload::record::perf::Perf;
use nbuf::internal::workload::record::{Backend, Options, record, trace_of_log};
use nbuf::trace::{CacheEvent, Trace};
use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};
use support::skip;
use volume::{Volume, enter_private_mounts, run};

fn main() -> ExitCode {
    if let Err(error) = Perf::prepare(&[]) {
        skip(&format!("capture: {error}"));
        return ExitCode::SUCCESS;
    }
    if let Err(error) = enter_private_mounts() {
        skip(&format!("capture: no private mounts: {error}"));
        return ExitCode::SUCCESS;
    }
    let signals = Signals::block().unwrap();
    // After the new start above, which ends all threads, and with the signals blocked for its thread too.
    tracepoints::keep();
    // As the tests of the program take theirs: those that share it cannot overtake us.
    let gate = File::create("/tmp/nbuf-tests.gate").unwrap();
    gate.lock().unwrap();
    let lock = File::create("/tmp/nbuf-tests.lock").unwrap();
    lock.lock().unwrap();
    drop(gate);
    let only: Vec<String> = std::env::args().skip(1).filter(|a| !a.starts_with('-')).collect();
    let directory = tempfile::tempdir().unwrap();
    let mut bench = Bench { signals, only, passed: 0, failed: 0 };
    for kind in ["ext4", "xfs", "btrfs", "fuse"] {
        match Volume::new(kind, directory.path()) {
            Ok(volume) => bench.on(kind, &volume),
            Err(error) => skip(&format!("capture on {kind}: {error}")),
        }
    }
    println!("{} passed, {} failed", bench.passed, bench.failed);
    if bench.failed > 0 { ExitCode::FAILURE } else { ExitCode::SUCCESS }
}

/// What `docs/capture-calls.md` says is not seen; truncated files only if the command touched them.
const UNSEEN_BY_CALLS: [&str; 3] = ["io_uring", "deleted while open", "truncate"];

type Check = fn(&Bench, &Volume) -> Result<(), String>;

struct Bench {
    signals: Signals,
    only: Vec<String>,
    passed: u32,
    failed: u32,
}

impl Bench {
    fn on(&mut self, kind: &str, volume: &Volume) {
        std::env::set_current_dir(&volume.root).unwrap();
        // Cases that read these files are not on fuse, where ten thousand of them are slow to make.
        if kind != "fuse" {
            shell(PREPARE_ONCE).unwrap();
        }
        for backend in [Backend::Perf, Backend::Calls] {
            self.cases(kind, backend, volume);
        }
        let rings: [(&str, Check); 2] =
            [("losses are counted", Bench::tiny_ring), ("nothing is lost", Bench::full_speed)];
        for (name, check) in rings {
            if kind == "ext4" && self.wanted(kind, name) {
                let attempt = |bench: &Self| {
                    shell(PREPARE).unwrap();
                    check(bench, volume)
                };
                // A hypervisor that takes the recorder's processor for long enough loses any ring.
                let result = attempt(self).or_else(|why| {
                    println!("again   {kind:5} {name}: {why}");
                    attempt(self)
                });
                self.report(kind, name, result);
            }
        }
        std::env::set_current_dir("/").unwrap();
    }

    fn cases(&mut self, kind: &str, backend: Backend, volume: &Volume) {
        let by = if backend == Backend::Calls { " by calls" } else { "" };
        for case in &CASES {
            let name = format!("{}{by}", case.name);
            let seen = match backend {
                Backend::Perf => true,
                Backend::Calls => !UNSEEN_BY_CALLS.contains(&case.name),
            };
            if self.wanted(kind, &name) && !case.not_on.contains(&kind) && seen {
                if shell(&format!("command -v {}", case.needs)).is_err() {
                    skip(&format!("capture of {name} on {kind}: no {}", case.needs));
                    continue;
                }
                let attempt = |bench: &Self| {
                    shell(PREPARE).unwrap();
                    bench.try_case(case, backend, volume)
                };
                // Counts are exact, and the kernel is free to reclaim a page of anybody's at any
                // moment: what fails once is tried again, and must not fail twice.
                let result = attempt(self).or_else(|why| {
                    println!("again   {kind:5} {name}: {why}");
                    attempt(self)
                });
                self.report(kind, &name, result);
            }
        }
    }

    fn wanted(&self, kind: &str, name: &str) -> bool {
        let name = format!("{kind} {name}");
        self.only.is_empty() || self.only.iter().any(|only| name.contains(only))
    }

    fn report(&mut self, kind: &str, name: &str, result: Result<(), String>) {
        match result {
            Ok(()) => {
                self.passed += 1;
                println!("ok      {kind:5} {name}");
            }
            Err(why) => {
                self.failed += 1;
                println!("FAILED  {kind:5} {name}: {why}");
            }
        }
    }

    fn record(
        &self,
        arguments: &[&str],
        backend: Backend,
        ring_bytes: Option<usize>,
    ) -> Result<Trace, String> {
        let arguments = arguments.iter().map(Into::into).collect();
        let command = Command { arguments, account: None, ..Command::default() };
        let null = |write| File::options().read(true).write(write).open("/dev/null").unwrap();
        let standard = [false, true, true].map(|write| Some(null(write).into()));
        let options = Options { standard, backend, ring_bytes, ..Options::default() };
        let (ended, log) = record(&command, options, Vec::new(), &self.signals)
            .map_err(|error| error.to_string())?;
        if ended.exit_status != 0 {
            return Err(format!("the command ended with {}", ended.exit_status));
        }
        trace_of_log(Cursor::new(log)).map_err(|error| error.to_string())
    }

    fn try_case(&self, case: &Case, backend: Backend, volume: &Volume) -> Result<(), String> {
        let interpreter = if case.needs == "python3" { "python3" } else { "sh" };
        let trace = self.record(&[interpreter, "-c", case.command], backend, None)?;
        let path = volume.root.join(case.file).to_string_lossy().into_owned();
        let got = shown(&trace, &path, case.want);
        if trace.facts.capture.lost > 0 {
            return Err(format!("{} lost", trace.facts.capture.lost));
        }
        if got == case.want {
            return Ok(());
        }
        Err(format!("want {:?}, got {got:?}; {:?}", case.want, trace.facts.warnings))
    }

    /// In a ring for fifty events, some are lost: as many as are missing. A reader with a processor
    /// of its own can keep up even so: this one shares it with a command that goes before everybody.
    fn tiny_ring(&self, volume: &Volume) -> Result<(), String> {
        let again = "for i in 1 2 3 4 5 6 7 8 9 10; do dd if=a of=/dev/null bs=4k; done";
        let arguments = ["nice", "-n", "-20", "sh", "-c", again];
        let trace = on_one_processor(|| self.record(&arguments, Backend::Perf, Some(4096)))?;
        let reads = reads_of(&trace, volume);
        let lost = trace.facts.capture.lost;
        let said = trace.facts.capture.loss().is_some();
        let sound = lost > 0 && reads < 10_240 && reads + lost >= 10_240 && said;
        let counted = trace.facts.capture.events;
        if sound { Ok(()) } else { Err(format!("{reads} reads, {lost} lost of {counted}")) }
    }

    fn full_speed(&self, volume: &Volume) -> Result<(), String> {
        let again = "i=0; while [ $i -lt 100 ]; do dd if=a of=/dev/null bs=4k; i=$((i+1)); done";
        let trace = self.record(&["sh", "-c", again], Backend::Perf, None)?;
        let (reads, lost) = (reads_of(&trace, volume), trace.facts.capture.lost);
        if (reads, lost) == (102_400, 0) {
            return Ok(());
        }
        Err(format!("{reads} reads, {lost} lost"))
    }
}

/// Does it on one processor, as its children do.
fn on_one_processor<T>(work: impl FnOnce() -> Result<T, String>) -> Result<T, String> {
    let all = sched_getaffinity(None).map_err(|error| error.to_string())?;
    let first = (0..CpuSet::MAX_CPU).find(|&cpu| all.is_set(cpu)).ok_or("no processor")?;
    let mut one = CpuSet::new();
    one.set(first);
    sched_setaffinity(None, &one).map_err(|error| error.to_string())?;
    let done = work();
    sched_setaffinity(None, &all).map_err(|error| error.to_string())?;
    done
}

fn reads_of(trace: &Trace, volume: &Volume) -> u64 {
    let path = volume.root.join("a").to_string_lossy().into_owned();
    let read = |r: &nbuf::trace::Record| {
        r.op == CacheEvent::Read && trace.files[r.file.0 as usize] == path
    };
    trace.records.iter().filter(read).count() as u64
}

/// The operations on a file, as [`Case::want`] has them.
fn shown(trace: &Trace, path: &str, want: &str) -> String {
    let mut seen: BTreeMap<String, (u64, u64)> = BTreeMap::new();
    let mut mapped = std::collections::BTreeSet::new();
    for record in &trace.records {
        let name = &trace.files[record.file.0 as usize];
        let ours = path.strip_suffix('*').map_or(name == path, |start| name.starts_with(start));
        if !ours
            || matches!(
                record.op,
                CacheEvent::Fill
                    | CacheEvent::Readahead
                    | CacheEvent::Advise
                    | CacheEvent::Prefetch
            )
        {
            continue;
        }
        let last = record.offset_bytes + u64::from(record.length_bytes).max(1) - 1;
        let pages = record.offset_bytes / 4096..=last / 4096;
        if record.op.is_mapped() {
            mapped.extend(pages);
            continue;
        }
        let (requests, sum) = seen.entry(format!("{:?}", record.op)).or_default();
        *requests += 1;
        *sum += pages.count() as u64;
    }
    if !mapped.is_empty() {
        return format!("mapped {}", mapped.len());
    }
    let free = |op: &str| want.contains(&format!("{op} */"));
    // What leaves the cache is reported only where it is the point.
    let seen = seen.iter().filter(|(op, _)| *op != "Evict" || want.contains("Evict"));
    let shown = seen.map(|(op, (requests, pages))| {
        if free(op) { format!("{op} */{pages}") } else { format!("{op} {requests}/{pages}") }
    });
    shown.collect::<Vec<_>>().join(", ")
}

fn shell(script: &str) -> Result<(), String> {
    run(Tool::new("sh").args(["-ec", script]).stdout(Stdio::null()))
}
