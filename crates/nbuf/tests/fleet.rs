//! `nbuf fleet`: any runner and any split give the same curves.

#[expect(dead_code, reason = "each test file uses a part of it")]
mod support;

use std::fmt::Write as _;
use std::fs;
use std::io::Write as _;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use nbuf::experiment::result::{CurveDocument, FleetDocument, FleetVerdict, FleetVolume};
use nbuf::internal::sys::process::{descendants, signal};
use support::{Need, Place, requires_shared, skip, until};

const SIGINT: i32 = 2;
const SIGKILL: i32 = 9;

/// Runs the program; its status, standard output and standard error.
fn run(place: &Place, arguments: &str) -> (i32, String, String) {
    let Output { status, stdout, stderr } =
        place.nbuf(arguments.split_whitespace()).output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (status.code().unwrap(), text(stdout), text(stderr))
}

fn document(text: &str) -> FleetDocument {
    serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}: {text}"))
}

/// The document of a fleet of which every task is done.
fn fleet(place: &Place, arguments: &str) -> FleetDocument {
    let (status, said, wrong) = run(place, &format!("-q fleet {arguments} --json"));
    assert_eq!((status, &*wrong), (0, ""), "{arguments}");
    let document = document(&said);
    assert_eq!((document.tasks_missing, document.failures.len()), (0, 0));
    document
}

fn generate(place: &Place, what: &str, to: &str) {
    let (status, _, wrong) = run(place, &format!("-q trace generate {what} -o {to}"));
    assert_eq!(status, 0, "{wrong}");
}

/// Four volumes: two of a kind, a loop with a cliff, and one that no cache helps.
fn volumes(place: &Place) {
    fs::create_dir(place.path("v")).unwrap();
    generate(place, "zipf -n 30000 --keys 3000 --seed 1", "v/a.bin");
    generate(place, "zipf -n 9000 --keys 1000 --seed 2", "v/b.bin");
    generate(place, "loop -n 12000 --keys 900", "v/loop.bin");
    generate(place, "scan -n 4000 --keys 4000", "v/scan.bin");
}

/// The curve of a volume is the one that `nbuf curve` counts.
fn check_curve(place: &Place, volume: &FleetVolume, trace: &str) {
    let sizes: Vec<String> = volume.points.iter().map(|point| point.pages.to_string()).collect();
    let asked = format!("-q curve --policy lru --json --size {} {trace}", sizes.join(","));
    let curve: CurveDocument = serde_json::from_str(&run(place, &asked).1).unwrap();
    let want: Vec<u64> = curve.curves[0].points.iter().map(|point| point.misses).collect();
    let got: Vec<u64> = volume.points.iter().map(|point| point.misses).collect();
    assert_eq!(got, want, "{trace}");
}

#[test]
fn the_runner_and_the_split_change_nothing() {
    let place = Place::new();
    volumes(&place);
    let one = fleet(&place, "v --out one --workers 1 --budget 6MiB");
    for other in ["two --workers 2", "time --workers 2 --split time:5"] {
        assert_eq!(fleet(&place, &format!("v --out {other}")).checksum, one.checksum, "{other}");
    }
    assert_eq!(run(&place, "-q fleet plan v --out halves --split time:2").0, 0);
    let unfinished = run(&place, "fleet reduce --out halves");
    assert_eq!(unfinished.0, 125);
    assert!(unfinished.2.contains("no volume of halves is finished"), "{}", unfinished.2);
    assert_eq!(run(&place, "-q fleet work --tasks halves/tasks.jsonl --rows 1..3").0, 0);
    for share in ["0", "1"] {
        let share_of = "-q fleet work --tasks halves/tasks.jsonl --share-from SHARE --shares 2";
        let mut command = place.nbuf(share_of.split(' '));
        assert!(command.env("SHARE", share).status().unwrap().success());
    }
    assert_eq!(fleet(&place, "reduce --out halves").checksum, one.checksum);

    for volume in &one.volumes {
        check_curve(&place, volume, &volume.name);
    }
    let split = one.split.unwrap();
    assert!(split.rules[1..].iter().all(|rule| rule.misses >= split.rules[0].misses), "{split:?}");
    assert!(split.rules[0].misses as f64 >= split.bound_misses.unwrap());
    assert!(split.changes[0].misses_more > 0 && split.changes[1].misses_more < 0, "{split:?}");
    let scan = one.volumes.iter().find(|volume| volume.name == "v/scan.bin").unwrap();
    assert_eq!(scan.share.unwrap().verdict, FleetVerdict::Uncacheable);

    // Parts by hash are an estimate with a band, and exact where the band has no room.
    let hashed = fleet(&place, "v --out hash --workers 2 --split hash:4 --budget 6MiB");
    assert_eq!(hashed.split.unwrap().bound_misses, None, "an estimate bounds nothing");
    for (volume, exact) in hashed.volumes.iter().zip(&one.volumes) {
        assert_eq!((volume.parts, volume.accesses), (Some(4), exact.accesses));
        assert_eq!(volume.distinct_pages, exact.distinct_pages);
    }
}

/// Hourly files of all volumes give what a file of each volume gives.
#[test]
fn volumes_of_several_files_are_merged_in_time() {
    let place = Place::new();
    let (mut hours, mut own) = (vec![String::new(); 3], vec![String::new(); 4]);
    let mut state = 1_u64;
    for at in 0..6000_usize {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        let (volume, page) = (at * 7 % 11 % 4, (state >> 33) % (50 << (at % 5)));
        let line = format!("{volume},R,{},8192,{}\n", page * 4096, at * 1000);
        hours[at / 2000] += &line;
        own[volume] += &line;
    }
    fs::create_dir_all(place.path("hours")).unwrap();
    for (at, text) in hours.iter().enumerate() {
        fs::write(place.path(&format!("hours/{at}.csv")), text).unwrap();
    }
    for (volume, text) in own.iter().enumerate() {
        fs::create_dir_all(place.path(&format!("own/{volume}"))).unwrap();
        let lines: Vec<&str> = text.lines().collect();
        for (part, lines) in lines.chunks(500).enumerate() {
            let path = place.path(&format!("own/{volume}/{part}.csv"));
            fs::write(path, lines.join("\n") + "\n").unwrap();
        }
    }
    let by_volume = fleet(&place, "hours --by volume --out a --workers 2 --from alibaba");
    let by_directory = fleet(&place, "own/*/*.csv --by directory --out b --from alibaba");
    assert_eq!((by_volume.volumes.len(), by_volume.warnings.len()), (4, 0));
    for (a, b) in by_volume.volumes.iter().zip(&by_directory.volumes) {
        assert_eq!(format!("own/{}", a.name), b.name);
        let (a, b) =
            [a, b].map(|v| (v.accesses, v.distinct_pages, v.cold_misses, v.points.clone())).into();
        assert_eq!(a, b);
    }
    // Volumes of a directory share its cache, and each file numbers them as they appear in it.
    let shared = fleet(&place, "hours --by directory --out c --from alibaba");
    let files = "hours/0.csv hours/1.csv hours/2.csv";
    check_curve(&place, &shared.volumes[0], &format!("--from alibaba {files}"));
}

/// A pipe by a name: a worker that opens it waits, so that a test knows what a worker does.
fn pipe(place: &Place, name: &str) {
    assert!(Command::new("mkfifo").arg(place.path(name)).status().unwrap().success());
}

/// The one worker of a fleet.
fn worker(fleet: &Child, not: i32) -> i32 {
    let own = i32::try_from(fleet.id()).unwrap();
    let mut found = None;
    until("a worker", || {
        let workers = descendants(&[own]);
        found = workers.into_iter().find(|&pid| pid != own && pid != not);
        found.is_some()
    });
    found.unwrap()
}

fn rows(place: &Place, out: &str) -> usize {
    fs::read_dir(place.path(out).join("rows")).map_or(0, Iterator::count)
}

fn start(place: &Place, arguments: &str) -> Child {
    let mut command = place.nbuf(arguments.split_whitespace());
    command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
}

#[test]
fn a_killed_worker_is_replaced_and_a_poisoned_task_is_named() {
    let (place, undisturbed) = (Place::new(), Place::new());
    for place in [&place, &undisturbed] {
        volumes(place);
        generate(place, "zipf -n 500 --keys 100", "late.bin");
    }
    let want = fleet(&undisturbed, "v late.bin --out out");
    let late = fs::read(place.path("late.bin")).unwrap();
    fs::remove_file(place.path("late.bin")).unwrap();
    pipe(&place, "late.bin");
    pipe(&place, "poison.bin");
    let mut started = start(&place, "fleet v late.bin poison.bin --out out --workers 1 --json");
    until("rows", || rows(&place, "out") == 4);
    let first = worker(&started, 0);
    signal(first, SIGKILL).unwrap();
    worker(&started, first);
    fs::write(place.path("late.bin"), late).unwrap();
    until("rows", || rows(&place, "out") == 5);
    // The first of these may have written its row, and not have said so yet: then its death is not of the next task.
    let own = i32::try_from(started.id()).unwrap();
    until("the end", || {
        for pid in descendants(&[own]).into_iter().filter(|&pid| pid != own) {
            let _ = signal(pid, SIGKILL);
        }
        started.try_wait().unwrap().is_some()
    });
    let Output { status, stdout, .. } = started.wait_with_output().unwrap();
    let got = document(&String::from_utf8(stdout).unwrap());
    assert_eq!((status.code(), got.failures.len()), (Some(1), 1));
    let failure = &got.failures[0];
    assert_eq!((failure.row, Path::new(&failure.input)), (6, &*place.path("poison.bin")));
    assert!(failure.error.contains("poisoned: 3 workers died on it"), "{failure:?}");
    assert_eq!(got.checksum, want.checksum);
}

#[test]
fn what_was_finished_before_an_interrupt_is_kept() {
    let place = Place::new();
    volumes(&place);
    let want = fleet(&place, "v --out undisturbed");
    pipe(&place, "waits.bin");
    let started = start(&place, "fleet v waits.bin --out out --workers 1");
    until("rows", || rows(&place, "out") == 4);
    let at_work = worker(&started, 0);
    signal(i32::try_from(started.id()).unwrap(), SIGINT).unwrap();
    let Output { status, stderr, .. } = started.wait_with_output().unwrap();
    let said = String::from_utf8(stderr).unwrap();
    assert_eq!(status.code(), Some(130), "{said}");
    assert!(said.contains("4 tasks are done and kept, 1 left"), "{said}");
    assert!(!Path::new(&format!("/proc/{at_work}")).exists(), "no worker is left");
    let times = || {
        let entries = fs::read_dir(place.path("out/rows")).unwrap().flatten();
        let mut times: Vec<_> =
            entries.map(|e| e.metadata().unwrap().modified().unwrap()).collect();
        times.sort_unstable();
        times
    };
    let before = times();
    assert_eq!(fleet(&place, "v --out out").checksum, want.checksum);
    assert_eq!(times(), before, "nothing is done twice");
}

/// The name of a task is a path of what it writes.
#[test]
fn a_row_that_was_changed_is_refused() {
    let place = Place::new();
    volumes(&place);
    let run = |arguments: &str| place.nbuf(arguments.split_whitespace()).output().unwrap();
    assert!(run("fleet plan v --out out").status.success());
    let plan = fs::read_to_string(place.path("out/tasks.jsonl")).unwrap();
    let name = plan.split("\"task\":\"").nth(1).and_then(|rest| rest.split('"').next()).unwrap();
    fs::write(place.path("part.jsonl"), plan.replacen(name, "../../part", 1)).unwrap();
    fs::copy(place.path("part.jsonl"), place.path("out/part.jsonl")).unwrap();
    let before = fs::read(place.path("part.jsonl")).unwrap();
    let refused = run("fleet work --tasks out/part.jsonl");
    let said = String::from_utf8(refused.stderr).unwrap();
    assert_eq!(refused.status.code(), Some(125), "{said}");
    assert!(said.contains("out/part.jsonl, line 1: the row was changed"), "{said}");
    assert!(fs::read(place.path("part.jsonl")).unwrap() == before && rows(&place, "out") == 0);
    let first = plan.split_inclusive('\n').next().unwrap();
    fs::write(place.path("out/part.jsonl"), first).unwrap();
    assert!(run("fleet work --tasks out/part.jsonl").status.success());
    assert_eq!(rows(&place, "out"), 1);
}

/// Ctrl-C ends a task that would go on, and leaves no row of it.
#[test]
fn work_ends_in_the_middle_of_a_task() {
    let place = Place::new();
    pipe(&place, "endless.bin");
    assert_eq!(run(&place, "-q fleet plan endless.bin --out out --from u32le").0, 0);
    let started = start(&place, "fleet work --tasks out/tasks.jsonl");
    let path = place.path("endless.bin");
    let (written, count) = (Arc::new(AtomicU64::new(0)), 1 << 20);
    let seen = Arc::clone(&written);
    let writer = std::thread::spawn(move || {
        let mut pipe = fs::OpenOptions::new().write(true).open(path).unwrap();
        while pipe.write_all(&vec![0; count]).is_ok() {
            seen.fetch_add(1, Ordering::Relaxed);
        }
    });
    until("requests", || written.load(Ordering::Relaxed) > 20);
    signal(i32::try_from(started.id()).unwrap(), SIGINT).unwrap();
    let Output { status, stderr, .. } = started.wait_with_output().unwrap();
    writer.join().unwrap();
    let said = String::from_utf8(stderr).unwrap();
    assert_eq!(status.code(), Some(130), "{said}");
    assert!(said.contains("0 tasks are done and kept, 1 left"), "{said}");
    assert_eq!(rows(&place, "out"), 0);
}

/// Each file once, by any name, from any directory, and numbers that other programs read.
#[test]
fn a_plan_has_each_trace_once_and_works_elsewhere() {
    let place = Place::new();
    volumes(&place);
    let want = fleet(&place, "v --out want");
    fs::hard_link(place.path("v/a.bin"), place.path("v/same.bin")).unwrap();
    symlink("a.bin", place.path("v/link.bin")).unwrap();
    let words = "# About these traces\n\nThey were made on a Tuesday; ask before you copy them.\n";
    fs::write(place.path("v/README.md"), words).unwrap();
    fs::write(place.path("v/picture.png"), b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0").unwrap();
    fs::create_dir_all(place.path("begun/summaries")).unwrap();
    let (status, _, said) =
        run(&place, "fleet plan ./v v/a.bin ./v/b.bin --split time:2 --out begun");
    assert_eq!(status, 0, "a folder of a plan that was ended: {said}");
    assert!(said.contains("planned 8 tasks in begun/tasks.jsonl"), "{said}");
    assert!(said.contains("left out 2 files of no known format, such as v/README.md"), "{said}");
    assert!(said.contains("left out 2 files that other inputs name too"), "{said}");

    let plan = fs::read_to_string(place.path("begun/tasks.jsonl")).unwrap();
    for line in plan.lines() {
        let mut values = vec![serde_json::from_str::<serde_json::Value>(line).unwrap()];
        while let Some(value) = values.pop() {
            // JavaScript and jq 1.6 read numbers as floats.
            let is_exact =
                |number: &serde_json::Number| number.as_u64().is_none_or(|n| n < 1 << 53);
            assert!(value.as_number().is_none_or(is_exact), "{value} in {line}");
            values.extend(value.as_array().into_iter().flatten().cloned());
            values.extend(value.as_object().into_iter().flat_map(|map| map.values()).cloned());
        }
    }
    let mode = fs::metadata(place.path("begun/tasks.jsonl")).unwrap().permissions().mode();
    assert_eq!(mode & 0o444, 0o444, "others read it, unless the umask is against it");

    fs::create_dir(place.path("elsewhere")).unwrap();
    let mut work = place.nbuf(["-q", "fleet", "work", "--tasks", "../begun/tasks.jsonl"]);
    assert!(work.current_dir(place.path("elsewhere")).status().unwrap().success());
    let mut answer = place.nbuf(["-q", "fleet", "reduce", "--out", "../begun", "--json"]);
    let answer = answer.current_dir(place.path("elsewhere")).output().unwrap();
    assert_eq!(document(&String::from_utf8(answer.stdout).unwrap()).checksum, want.checksum);

    fs::create_dir(place.path("none")).unwrap();
    fs::rename(place.path("v/README.md"), place.path("none/README.md")).unwrap();
    let (status, _, said) = run(&place, "fleet none --out x");
    assert!(
        status == 125 && said.contains("no file of the directory is of a known format"),
        "{said}"
    );
    let (status, said, _) = run(&place, "-q fleet none/README.md v/a.bin --out x --json");
    assert_eq!((status, document(&said).failures.len()), (1, 1), "what is named is an error");
}

/// An hour without requests, records that cannot be read, and a directory without a name.
#[test]
fn an_empty_hour_is_a_part_of_its_volumes() {
    let place = Place::new();
    let mut lines = String::new();
    for at in 0..3000_u64 {
        let _ = writeln!(lines, "{},R,{},4096,{at}", at % 3, at * 31 % 97 * 4096);
    }
    fs::write(place.path("1.csv"), format!("{lines}1,R,nonsense,4096,3000\n")).unwrap();
    let sound = fleet(&place, "1.csv --by volume --out sound --from alibaba");
    fs::write(place.path("2.csv"), "").unwrap();
    for (at, split) in ["none", "time:3"].into_iter().enumerate() {
        let asked = format!("1.csv 2.csv --by volume --out v{at} --from alibaba --split {split}");
        let got = fleet(&place, &asked);
        assert_eq!(got.checksum, sound.checksum);
        let warnings: Vec<String> = got.warnings.iter().map(ToString::to_string).collect();
        let warnings = warnings.join("; ");
        assert!(warnings.contains("2.csv without any requests"), "{warnings}");
        assert!(warnings.contains("1 record could not be read"), "{warnings}");
    }
    let whole = fleet(&place, "1.csv 2.csv --by directory --out d --from alibaba");
    assert_eq!((whole.volumes.len(), &*whole.volumes[0].name), (1, "."));
    let alone = run(&place, "-q fleet 2.csv --out alone --from alibaba --json");
    assert_eq!((alone.0, document(&alone.1).failures.len()), (1, 1));
}

#[test]
fn mistakes_are_said_and_the_rest_goes_on() {
    let place = Place::new();
    volumes(&place);
    let trace = fs::read(place.path("v/b.bin")).unwrap();
    let mut corrupt = b"PAR1".to_vec();
    corrupt.extend(&trace[..4000]);
    fs::write(place.path("v/corrupt.parquet"), corrupt).unwrap();
    let (status, said, _) = run(&place, "-q fleet v --out out --json");
    let got = document(&said);
    assert_eq!((status, got.volumes.len(), got.failures.len()), (1, 4, 1));
    assert_eq!(Path::new(&got.failures[0].input), place.path("v/corrupt.parquet"));
    assert!(got.failures[0].error.contains("cut off"), "{:?}", got.failures);
    let (_, table, _) = run(&place, "-q fleet reduce --out out");
    let flat = table.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(
        flat.contains("corrupt.parquet: ") && flat.contains("left out: a task failed"),
        "{table}"
    );
    assert!(!flat.contains("not all of the tasks"), "{table}");

    let mut wanted = String::new();
    let mut check = |status: i32, arguments: &str, want: &str| {
        let (got, _, wrong) = run(&place, arguments);
        if got != status || !wrong.contains(want) {
            let _ = writeln!(wanted, "{arguments}: {got}, {wrong}");
        }
    };
    check(1, "-q fleet v --out out --html page.html", "");
    check(1, "-q fleet v --out out --html page.html", "");
    check(125, "fleet nowhere.bin --out x", "cannot use nowhere.bin");
    check(125, "fleet v/*.zst --out x", "no file matches v/*.zst");
    check(125, "fleet v/a.bin --out v", "is not empty and no folder of a fleet");
    check(125, "fleet reduce --out v", "has no plan");
    check(2, "fleet work --tasks out/tasks.jsonl --rows 4..9", "has the rows 1..5");
    check(2, "fleet work --tasks out/tasks.jsonl --share-from NONE --shares 2", "is no share");
    check(2, "fleet v --out x --split time:1", "no way to split");
    check(2, "fleet v --out x --on nonsense", "write one of local, dask, ray, spark");
    check(2, "fleet v", "--out");
    let plan = place.path("out/tasks.jsonl");
    let other = fs::read_to_string(&plan).unwrap().replace("\"version\":\"", "\"version\":\"9.");
    fs::write(&plan, other).unwrap();
    let rows_before = rows(&place, "out");
    check(125, "fleet work --tasks out/tasks.jsonl", "was planned by nbuf 9.");
    check(125, "fleet reduce --out out", "was planned by nbuf 9.");
    assert_eq!(wanted, "");
    assert_eq!(rows(&place, "out"), rows_before);
    assert!(!place.path("x").exists(), "nothing is made for a mistake");
}

const PACKAGING: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../packaging");

/// Prints a manifest as JSON.
const AS_JSON: &str =
    "import json, sys, yaml; json.dump(yaml.safe_load(open(sys.argv[1])), sys.stdout)";

/// Runs the script as three jobs of an array.
#[test]
fn the_script_for_slurm_does_every_row_once() {
    let place = Place::new();
    volumes(&place);
    let want = fleet(&place, "v --out one --workers 1").checksum;
    assert_eq!(run(&place, "-q fleet plan v --out out --split time:2").0, 0);
    let folder = place.program().parent().unwrap().to_owned();
    let path = format!("{}:{}", folder.display(), std::env::var("PATH").unwrap());
    let mut done = vec![0];
    for job in ["0", "1", "2"] {
        let mut script = Command::new("sh");
        script.arg(format!("{PACKAGING}/slurm/fleet.sbatch")).arg(place.path("out"));
        script.env("PATH", &path).env("SLURM_ARRAY_TASK_ID", job);
        let output = script.env("SLURM_ARRAY_TASK_COUNT", "3").output().unwrap();
        assert!(output.status.success(), "{output:?}");
        done.push(rows(&place, "out"));
    }
    // Eight rows are three, three and two.
    assert_eq!(done, [0, 3, 6, 8]);
    assert_eq!(fleet(&place, "reduce --out out").checksum, want);
}

/// Runs the arguments of the manifest as its pods would.
#[test]
fn the_manifest_for_kubernetes_does_every_row() {
    let Some(_lock) = requires_shared(&[Need::Program("python3")]) else { return };
    let manifest = format!("{PACKAGING}/kubernetes/fleet.yaml");
    let output = Command::new("python3").args(["-c", AS_JSON, &manifest]).output().unwrap();
    let error = String::from_utf8_lossy(&output.stderr);
    if error.contains("No module named 'yaml'") {
        return skip("python3 has no yaml");
    }
    let manifest: serde_json::Value = serde_json::from_slice(&output.stdout).expect(&error);
    assert_eq!((&manifest["apiVersion"], &manifest["kind"]), (&"batch/v1".into(), &"Job".into()));
    let spec = &manifest["spec"];
    // Kubernetes refuses another mode or restart policy with a limit per index.
    assert_eq!(spec["completionMode"], "Indexed");
    assert!(spec["backoffLimitPerIndex"].is_u64());
    let pod = &spec["template"]["spec"];
    assert_eq!(pod["restartPolicy"], "Never");
    let container = &pod["containers"][0];
    assert!(container["image"].is_string() && container["name"].is_string());
    let (mount, volume) = (&container["volumeMounts"][0], &pod["volumes"][0]);
    assert_eq!(mount["name"], volume["name"]);
    let shared = mount["mountPath"].as_str().unwrap();

    let place = Place::new();
    volumes(&place);
    let want = fleet(&place, "v --out one --workers 1").checksum;
    assert_eq!(run(&place, "-q fleet plan v --out fleet --split time:8").0, 0);
    let here = place.path("").display().to_string();
    let words = container["args"].as_array().unwrap().iter().map(|word| word.as_str().unwrap());
    let words: Vec<String> =
        words.map(|word| word.replace(shared, here.trim_end_matches('/'))).collect();
    let pods = spec["completions"].as_u64().unwrap();
    assert!(words.contains(&format!("--shares={pods}")), "{words:?}");
    for index in 0..pods {
        let mut pod = place.nbuf(&words);
        let output = pod.env("JOB_COMPLETION_INDEX", index.to_string()).output().unwrap();
        assert!(output.status.success(), "{output:?}");
    }
    assert_eq!(fleet(&place, "reduce --out fleet").checksum, want);
}
