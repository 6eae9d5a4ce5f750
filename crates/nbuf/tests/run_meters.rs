//! `nbuf run --meters` against a program that knows how often it did what, and how long that took.

#[expect(dead_code, reason = "each test file uses a part of it")]
mod support;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::process::Command;

use nbuf::experiment::result::{RunDocument, RunMeter, RunMeters, RunMetersOf, RunSampleMeter};
use nbuf::internal::sys::seccomp;
use support::truth::{in_four_tries, truth};
use support::{Need, Place, requires};

const NEEDS: [Need; 2] = [Need::Tracepoints, Need::Program("cc")];

/// Runs the program, and gives the meters with the time that the program measured.
fn meters(place: &Place, words: &[&str]) -> (RunDocument, RunMeters, f64) {
    let program = truth(place);
    let words = [&["run", "--meters", "--json", "--", program.to_str().unwrap()], words].concat();
    let output = place.nbuf(words).output().unwrap();
    let error = String::from_utf8(output.stderr).unwrap();
    let waited = error.lines().find_map(|line| line.strip_prefix("waited ")?.parse().ok());
    let mut ran: RunDocument = serde_json::from_slice(&output.stdout).expect(&error);
    assert_eq!(ran.exit_status, 0, "{error}");
    assert!(ran.notes.is_empty(), "{:?}", ran.notes);
    let meters = ran.meters.take().expect(&error);
    for meter in meters.events.iter().chain(&meters.calls) {
        let RunMeter { count, total_seconds, mean_seconds, max_seconds, .. } = *meter;
        assert_eq!(meter.histogram.iter().map(|step| step.count).sum::<u64>(), count);
        assert!((mean_seconds * count as f64 - total_seconds).abs() < 1e-8, "{meter:?}");
        let quantiles = [meter.p50_seconds, meter.p90_seconds, meter.p99_seconds, max_seconds];
        assert!(quantiles.is_sorted(), "{meter:?}");
    }
    (ran, meters, waited.expect(&error))
}

fn find<'a>(list: &'a [RunMeter], name: &str) -> &'a RunMeter {
    list.iter().find(|meter| meter.name == name).unwrap_or_else(|| panic!("no {name}: {list:?}"))
}

/// By programs in the kernel, where root may use them, and by perf's events alone.
fn both_ways(runs: impl Fn() + Sync) {
    in_four_tries(&runs);
    // A filter applies to the thread that sets it, and to the processes that it starts.
    let refused = || {
        seccomp::refuse(&[libc::SYS_bpf]).unwrap();
        in_four_tries(&runs);
    };
    std::thread::scope(|scope| scope.spawn(refused).join().unwrap());
}

#[test]
fn calls_are_counted_and_timed_by_name() {
    let Some(_lock) = requires(&NEEDS) else { return };
    let place = Place::new();
    place.file("file", 4096);
    both_ways(|| {
        let (_, of, _) = meters(&place, &["calls", "20000"]);
        let call = find(&of.calls, "getppid");
        assert_eq!(call.count, 20_000);
        assert!(call.p50_seconds < 50e-6, "{call:?}");
        assert!(of.kernel_entries >= 20_000);
        // The libraries of the program are opened, too.
        let opens = |count: &str| {
            let (_, of, _) = meters(&place, &["opens", count, "file"]);
            [find(&of.calls, "openat").count, find(&of.events, "path look-up").count]
        };
        let ([none, none_of_all], [some, some_of_all]) = (opens("0"), opens("300"));
        assert_eq!([some - none, some_of_all - none_of_all], [300, 300]);
        let (_, of, waited) = meters(&place, &["naps", "100"]);
        let nap = find(&of.calls, "clock_nanosleep");
        assert_eq!(nap.count, 100);
        assert!(nap.p50_seconds >= 1e-3 && nap.total_seconds <= waited, "{waited}: {nap:?}");
        assert!(nap.total_seconds > 0.9 * waited, "{waited}: {nap:?}");
    });
}

/// Counts that depend on the program alone.
fn counts(place: &Place, words: &[&str]) -> BTreeMap<String, u64> {
    let (_, of, _) = meters(place, words);
    let kinds = ["path look-up", "first touch of a file", "linker", "process creation"];
    let is_known = |meter: &&RunMeter| {
        let is_step = meter.step_of.as_deref() == Some("linker");
        // The page faults of a program that starts are not always the same.
        meter.name != "page fault" && (is_step || kinds.contains(&meter.name.as_str()))
    };
    let calls = of.calls.iter().filter(|call| call.name != "page fault");
    let all = of.events.iter().filter(is_known).chain(calls);
    all.map(|meter| (meter.name.clone(), meter.count)).collect()
}

#[test]
fn programs_and_events_count_the_same() {
    let Some(_lock) = requires(&NEEDS) else { return };
    let place = Place::new();
    for n in 0..50 {
        place.file(&format!("first{n}"), 4096);
    }
    for words in [&["firsts", "50"][..], &["opens", "40", "first1"], &["forks", "20"]] {
        in_four_tries(|| {
            let programs = counts(&place, words);
            // A filter applies to the thread that sets it, and to the processes that it starts.
            let refused = || {
                seccomp::refuse(&[libc::SYS_bpf]).unwrap();
                counts(&place, words)
            };
            let events = std::thread::scope(|scope| scope.spawn(refused).join().unwrap());
            assert_eq!(programs, events, "{words:?}");
        });
    }
}

#[test]
fn faults_are_counted_and_the_steps_of_a_major_one_add_up() {
    let Some(_lock) = requires(&NEEDS) else { return };
    let place = Place::new();
    place.file("file", 400 * 4096);
    fs::File::open(place.path("file")).unwrap().sync_all().unwrap();
    both_ways(|| {
        let (none, few, _) = meters(&place, &["touch", "0"]);
        let (all, many, _) = meters(&place, &["touch", "5000"]);
        let minor = |of: &RunMeters| find(&of.events, "minor fault").count;
        let more = minor(&many) - minor(&few);
        assert!(more.abs_diff(all.faults_minor - none.faults_minor) < 20, "{more}");
        assert!((4980..5030).contains(&more), "{more}");
        // What came before the program was executed is not in the meters.
        assert!(minor(&many) <= all.faults_minor, "{all:?}");

        let (ran, of, waited) = meters(&place, &["major", "400", "file"]);
        let fault = find(&of.events, "major fault");
        assert!((400..410).contains(&fault.count), "{fault:?}");
        assert!(fault.count <= ran.faults_major, "{ran:?}");
        assert!(fault.total_seconds < 1.02 * waited + 0.01, "{waited}: {fault:?}");
        assert!(fault.total_seconds > 0.8 * waited, "{waited}: {fault:?}");
        let steps =
            of.events.iter().filter(|meter| meter.step_of.as_deref() == Some("major fault"));
        let sum: f64 = steps.map(|step| step.total_seconds).sum();
        assert!((sum - fault.total_seconds).abs() < 0.01 * fault.total_seconds, "{sum}: {fault:?}");
        let device = find(&of.events, "device");
        assert!(device.count >= 390 && device.total_seconds > 0.0, "{device:?}");
    });
}

#[test]
fn files_are_touched_first_once() {
    let Some(_lock) = requires(&NEEDS) else { return };
    let place = Place::new();
    for n in 0..300 {
        place.file(&format!("first{n}"), 4096);
    }
    both_ways(|| {
        let touches = |count: &str| {
            let (_, of, waited) = meters(&place, &["firsts", count]);
            (find(&of.events, "first touch of a file").clone(), waited)
        };
        let ((none, _), (some, waited)) = (touches("0"), touches("300"));
        assert_eq!(some.count - none.count, 300);
        let seconds = some.total_seconds - none.total_seconds;
        assert!(seconds > 0.0 && some.p50_seconds * 300.0 < waited, "{waited}: {some:?}");
    });
}

/// The program counts the page faults before its `main`; one without a linker has none of its own.
#[test]
fn the_linker_has_what_comes_before_the_program() {
    let Some(_lock) = requires(&NEEDS) else { return };
    let place = Place::new();
    let linked = |name: &str, options: &[&str]| {
        let source = format!("{}/tests/run/linked.c", env!("CARGO_MANIFEST_DIR"));
        let mut cc = Command::new("cc");
        cc.args(["-O1", "-w", &source, "-o"]).arg(place.path(name)).args(options);
        assert!(cc.status().unwrap().success());
        let path = place.path(name);
        let words = ["run", "--meters", "--json", "--", path.to_str().unwrap()];
        // Cargo sets a path of many directories, each of which the linker would look into.
        let output = place.nbuf(words).env_remove("LD_LIBRARY_PATH").output().unwrap();
        let error = String::from_utf8(output.stderr).unwrap();
        let ran: RunDocument = serde_json::from_slice(&output.stdout).expect(&error);
        let faults = error.lines().find_map(|line| line.strip_prefix("faults ")?.parse().ok());
        let faults: u64 = faults.expect(&error);
        (ran.real_seconds, ran.meters.unwrap(), faults)
    };
    let step = |of: &RunMeters, name: &str| {
        let is_it =
            |meter: &&RunMeter| meter.name == name && meter.step_of.as_deref() == Some("linker");
        of.events.iter().find(is_it).unwrap().count
    };
    both_ways(|| {
        let (_, few, few_faults) = linked("few", &["-fPIE", "-pie", "-DPAGES=1"]);
        let (real, many, many_faults) = linked("many", &["-fPIE", "-pie", "-DPAGES=1000"]);
        let more = step(&many, "page fault") - step(&few, "page fault");
        assert!(more >= 990 && more.abs_diff(many_faults - few_faults) < 20, "{more}");
        let whole = find(&many.events, "linker");
        assert!(whole.count == 1 && whole.total_seconds < real, "{real}: {whole:?}");
        // The calls of `main` are not the linker's.
        let calls = step(&many, "system call");
        assert!(calls == step(&few, "system call") && (5..100).contains(&calls), "{calls}");
        let (_, alone, _) = linked("static", &["-static"]);
        assert!(!alone.events.iter().any(|meter| meter.name == "linker"), "{alone:?}");
    });
}

#[test]
fn each_process_thread_and_file_has_its_meters() {
    let Some(_lock) = requires(&NEEDS) else { return };
    let place = Place::new();
    let program = truth(&place);
    for n in 0..20 {
        place.file(&format!("first{n}"), 4096);
    }
    let run = |by: &str, words: &[&str]| {
        let options = ["run", "--json", "--meters", "--by", by, "--", program.to_str().unwrap()];
        let output = place.nbuf([&options[..], words].concat()).output().unwrap();
        let error = String::from_utf8_lossy(&output.stderr).into_owned();
        let ran: RunDocument = serde_json::from_slice(&output.stdout).expect(&error);
        ran.meters.unwrap()
    };
    in_four_tries(|| {
        let files = run("file", &["firsts", "20"]);
        let by = files.by.as_ref().unwrap();
        let count = |of: &RunMetersOf, name: &str| {
            let found = of.meters.iter().find(|meter| meter.name == name);
            found.map_or(0, |meter| meter.count)
        };
        for n in 0..20 {
            let inode = fs::metadata(place.path(&format!("first{n}"))).unwrap().ino();
            let of = by.each.iter().find(|of| of.number == Some(inode)).unwrap();
            // Two reads, two touches of a mapping, the first of them first.
            let faults = count(of, "minor fault") + count(of, "major fault");
            let got = (count(of, "read"), faults, count(of, "first touch of a file"));
            assert_eq!(got, (2, 2, 1), "{of:?}");
        }
        for (by, words, keys) in [("process", ["forks", "5"], 6), ("thread", ["beside", "0.01"], 2)]
        {
            let all = run(by, &words);
            let by = all.by.as_ref().unwrap();
            assert_eq!(by.each.len(), keys, "{by:?}");
            assert!(by.others.is_empty());
            // Nothing is lost: the sums of all are the meters of the command.
            for meter in all.events.iter().chain(&all.calls) {
                let same =
                    |of: &&RunSampleMeter| of.name == meter.name && of.step_of == meter.step_of;
                let each = by.each.iter().flat_map(|of| of.meters.iter().filter(same));
                assert_eq!(each.map(|of| of.count).sum::<u64>(), meter.count, "{}", meter.name);
            }
        }
    });
    let output = place.nbuf(["run", "--meters", "--by", "process", "true"]).output().unwrap();
    let error = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(error.contains("- execve") && error.contains("A total is of"), "{error}");
    // It ended long before a look at names.
    assert!(error.contains("\n  true ("), "{error}");
}

#[test]
fn requests_to_a_disc_have_a_queue_and_a_device() {
    let Some(_lock) = requires(&NEEDS) else { return };
    let place = Place::new();
    place.file("file", 100 * 4096);
    fs::File::open(place.path("file")).unwrap().sync_all().unwrap();
    both_ways(|| {
        let (_, of, waited) = meters(&place, &["direct", "100", "file"]);
        let [queue, device] = ["queue", "device"].map(|part| format!("disc read, {part}"));
        let (queue, device) = (find(&of.events, &queue), find(&of.events, &device));
        assert_eq!(queue.count, device.count);
        assert!((100..120).contains(&device.count), "{device:?}");
        let both = queue.total_seconds + device.total_seconds;
        assert!(device.total_seconds > 0.2 * waited && both < 1.1 * waited + 0.01, "{waited}");
    });
}

#[test]
fn processes_are_created_and_wait_for_a_processor() {
    let Some(_lock) = requires(&NEEDS) else { return };
    let place = Place::new();
    both_ways(|| {
        let (ran, of, _) = meters(&place, &["forks", "50"]);
        assert_eq!(ran.processes, Some(51));
        let created = find(&of.events, "process creation");
        assert_eq!(created.count, 50);
        assert!(created.total_seconds < ran.real_seconds, "{created:?}");
        // Threads and processes that begin, and the parent that is woken by each end.
        assert!(find(&of.events, "wait for a processor").count >= 50);
    });
}

#[test]
fn the_tables_follow_the_line() {
    let Some(_lock) = requires(&[Need::Tracepoints]) else { return };
    let place = Place::new();
    let output = place.nbuf(["run", "--meters", "true"]).output().unwrap();
    let error = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success() && output.stdout.is_empty(), "{error}");
    assert!(error.starts_with("nbuf: real "), "{error}");
    for words in ["minor fault", "System calls", "execve", "entered the kernel"] {
        assert!(error.contains(words), "{words}: {error}");
    }
    // Without the option nothing is timed.
    let output = place.nbuf(["run", "--json", "true"]).output().unwrap();
    let ran: RunDocument = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(ran.meters, None);
}

#[test]
fn who_may_not_see_it_is_answered_without_meters() {
    let needs = [Need::Tracepoints, Need::Nobody, Need::Program("setpriv")];
    let Some(_lock) = requires(&needs) else { return };
    let place = Place::open_to_all().unwrap();
    let output = Command::new("setpriv")
        .args(["--reuid=65534", "--regid=65534", "--clear-groups"])
        .arg(place.program())
        .args(["run", "--meters", "--json", "--", "true"])
        .output()
        .unwrap();
    let error = String::from_utf8_lossy(&output.stderr).into_owned();
    let ran: RunDocument = serde_json::from_slice(&output.stdout).expect(&error);
    assert_eq!(ran.meters, None);
    let notes: Vec<String> = ran.notes.iter().map(ToString::to_string).collect();
    assert!(notes.iter().any(|note| note.contains("meters")), "{notes:?}");
}

/// Two processes in turn, and a process of two threads.
#[test]
fn the_timeline_has_the_same_times_as_the_parts() {
    let Some(_lock) = requires(&NEEDS) else { return };
    let place = Place::new();
    let program = truth(&place);
    for (words, threads, processes) in [(["ping", "0.2"], 2, 2), (["beside", "0.1"], 2, 1)] {
        let file = format!("{}.json", words[0]);
        let run = || {
            let options = ["run", "--json", "--perfetto", &file, "--", program.to_str().unwrap()];
            place.nbuf([&options[..], &words].concat()).output().unwrap()
        };
        let ran: RunDocument = serde_json::from_slice(&run().stdout).unwrap();
        let text = fs::read_to_string(place.path(&file)).unwrap();
        let trace: serde_json::Value = serde_json::from_str(&text).unwrap();
        let events = trace["traceEvents"].as_array().unwrap();
        let mut slices: Vec<_> = events.iter().filter(|event| event["ph"] == "X").collect();
        let number = |event: &serde_json::Value, key: &str| event[key].as_f64().unwrap();
        let distinct = |key: &str| {
            slices.iter().map(|slice| slice[key].as_u64()).collect::<BTreeSet<_>>().len()
        };
        assert_eq!((distinct("tid"), distinct("pid")), (threads, processes), "{text}");
        let named = events.iter().filter(|event| event["name"] == "thread_name");
        assert!(named.clone().count() == threads, "{text}");
        assert!(named.clone().all(|event| event["args"]["name"] == "truth"), "{text}");
        // To the nanosecond: both come of the same changes.
        for (name, seconds) in ran.thread_time.unwrap().named() {
            let these = slices.iter().filter(|slice| slice["name"] == name);
            let sum: f64 = these.map(|slice| number(slice, "dur") / 1e6).sum();
            assert!((sum - seconds).abs() < 1e-6, "{name}: {sum}, not {seconds}");
        }
        slices.sort_by(|a, b| {
            let key = |event| (number(event, "tid"), number(event, "ts"));
            key(a).partial_cmp(&key(b)).unwrap()
        });
        for pair in slices.windows(2).filter(|pair| pair[0]["tid"] == pair[1]["tid"]) {
            let end = number(pair[0], "ts") + number(pair[0], "dur");
            assert!(end <= number(pair[1], "ts") + 1e-3, "{pair:?}");
        }
        // It is not written again, and the command does not run in vain.
        assert_eq!((run().status.code(), run().stdout.len()), (Some(125), 0));
    }
}
