//! `nbuf size` for programs that no model covers: runs find the size.

#[expect(dead_code, reason = "each test file uses a part of it")]
mod support;

use serde_json::Value;
use support::{Need, Place, Recorded, requires, requires_shared};

const MIB: u64 = 1 << 20;
const FILE_MIB: usize = 1 << 20;

/// Reads a mapped file some times over, and keeps this much anonymous memory meanwhile. Each part is read by
/// a process that ends before its touches can be followed.
fn mapped(times: u32, anonymous_mib: u32) -> Vec<String> {
    let script = format!(
        "import mmap, os
kept = bytearray({anonymous_mib} << 20)
for i in range(0, len(kept), 4096): kept[i] = 1
f = open('mapped', 'rb')
m = mmap.mmap(f.fileno(), 0, prot=mmap.PROT_READ)
m.madvise(mmap.MADV_RANDOM)
for part in range({times} * 16):
    if os.fork() == 0:
        pages = len(m) // 4096
        for i in range(part % 16 * pages // 16, (part % 16 + 1) * pages // 16): m[i * 4096]
        os._exit(0)
    os.wait()"
    );
    ["python3", "-c", &script].map(str::to_owned).to_vec()
}

fn size(place: &Place, options: &[&str], command: &[String]) -> Recorded {
    let command: Vec<&str> = command.iter().map(String::as_str).collect();
    place.size(options, &command)
}

fn limit(of: &Value) -> u64 {
    of["limit_bytes"].as_u64().unwrap()
}

#[test]
fn runs_find_the_size_of_a_program_that_maps_its_file() {
    let needs = [Need::Tracepoints, Need::Program("python3")];
    let Some(_lock) = requires_shared(&needs) else { return };
    let place = Place::new();
    place.file("mapped", 48 * FILE_MIB);
    let sized = size(&place, &["--json"], &mapped(3, 16));
    let report = sized.json();
    assert_eq!(sized.status, 0, "{sized:?}");
    assert_eq!(report["verdict"], "measured", "{report:#}");
    // The file, the anonymous memory, and the program itself; half as much reads it thrice.
    let found = limit(&report["recommend"]);
    assert!((64 * MIB..96 * MIB).contains(&found), "{}", found / MIB);
    let search = &report["search"];
    let ends = ["too_small_bytes", "enough_bytes"].map(|key| search[key].as_u64().unwrap());
    assert!(ends[0] < ends[1] && ends[1] < ends[0] + ends[0] / 8, "{search:#}");
    let runs = search["runs"].as_array().unwrap();
    assert!((3..=9).contains(&runs.len()), "{search:#}");
    // The number itself was run, unless there were no runs left for it.
    let at = |run: &&Value| run["limit_bytes"] == found && run["outcome"] == "enough";
    assert!(runs.len() >= 8 || runs.iter().any(|run| at(&run)), "{search:#}");
    let enough = search["fills_enough"].as_u64().unwrap();
    // A second run without a limit may be among them.
    for run in runs.iter().filter(|run| !run["limit_bytes"].is_null()) {
        let is_enough = run["outcome"] == "enough";
        let fills = run["fills"].as_u64().unwrap();
        assert!(!is_enough || fills <= enough, "{run:#}");
        assert_eq!(is_enough, limit(run) >= ends[1], "{search:#}");
    }
}

#[test]
fn a_program_that_keeps_its_data_elsewhere_gains_nothing_from_cache() {
    let needs = [Need::Tracepoints, Need::Program("python3")];
    let Some(_lock) = requires_shared(&needs) else { return };
    let place = Place::new();
    place.file("mapped", 4096);
    let sized = size(&place, &[], &mapped(1, 64));
    assert_eq!(sized.status, 0, "{sized:?}");
    let found = sized
        .stdout
        .lines()
        .find(|line| line.contains("MemoryMax="))
        .unwrap_or_else(|| panic!("{sized:?}"));
    let found: u64 = found.split(['=', 'M']).nth(3).unwrap().parse().unwrap();
    // A short run may end between two looks at its memory: then it seems to need less, and the number has the spread.
    let most = if sized.stdout.contains("Warning: other memory was") { 180 } else { 110 };
    assert!((64..most).contains(&found), "{}", sized.stdout);
}

#[test]
fn the_number_of_runs_can_be_chosen_and_a_command_that_differs_is_not_searched_for() {
    let needs = [Need::Tracepoints, Need::Program("python3")];
    let Some(_lock) = requires_shared(&needs) else { return };
    let place = Place::new();
    place.file("mapped", 16 * FILE_MIB);
    let none = size(&place, &["--json", "--runs", "0"], &mapped(2, 1)).json();
    assert_eq!((&none["verdict"], &none["search"]), (&"no_recommendation".into(), &Value::Null));
    let few = size(&place, &["--json", "--runs", "2"], &mapped(2, 1)).json();
    assert_eq!(few["search"]["is_narrow"], false, "{few:#}");
    // The last run proves the number. Another process may keep a library in memory during the first run only:
    // then it is too small, a larger number is recommended, and nothing says that it was measured.
    let last = few["search"]["runs"].as_array().unwrap().last().unwrap();
    let is_proved = last["outcome"] == "enough";
    let number = limit(&few["recommend"]);
    assert!(if is_proved { limit(last) == number } else { limit(last) < number }, "{few:#}");
    assert_eq!(few["verdict"], if is_proved { "measured" } else { "unproved" }, "{few:#}");
    let reason = few["recommend"]["reason"].as_str().unwrap();
    assert!(reason.contains("--runs"), "{few:#}");
    assert_ne!(reason.contains("no run with"), is_proved, "{few:#}");
}

#[test]
fn a_size_that_no_run_had_is_not_called_measured() {
    let needs = [Need::Tracepoints, Need::Program("python3")];
    let Some(_lock) = requires_shared(&needs) else { return };
    let place = Place::new();
    place.file("mapped", 16 * FILE_MIB);
    // The one run has no limit: its peak is the size.
    let sized = size(&place, &["--runs", "1"], &mapped(2, 1));
    assert_eq!(sized.status, 4, "{sized:?}");
    assert!(sized.stdout.contains("Not proved in 1 run."), "{sized:?}");
    assert!(sized.stdout.contains("To paste (not proved)"), "{sized:?}");
    assert!(!sized.stdout.contains("Measured in"), "{sized:?}");
}

#[test]
fn all_runs_together_are_no_more_than_asked_for() {
    let Some(_lock) = requires_shared(&[Need::Tracepoints]) else { return };
    let place = Place::new();
    place.file("file", 24 * FILE_MIB);
    place.file("more", 3 * FILE_MIB);
    // Every second run reads an eighth more, which may be noise.
    let script = "echo >>runs; cat file >/dev/null
        [ $(($(wc -l <runs) % 2)) = 0 ] || cat more >/dev/null";
    let check = |options: &[&str], most: usize| {
        let _ = std::fs::remove_file(place.path("runs"));
        let options = [options, &["--json"]].concat();
        let document = size(&place, &options, &["sh", "-c", script].map(str::to_owned)).json();
        let made = std::fs::read_to_string(place.path("runs")).unwrap().lines().count();
        let verified = document["verify"].as_array().unwrap().len();
        assert!((2..=most).contains(&verified), "{document:#}");
        // The first was recorded.
        assert!((1 + verified..=1 + most).contains(&made), "{made}: {document:#}");
        made
    };
    assert!(check(&[], 8) > 5, "what may be noise is run again");
    check(&["--runs", "3"], 3);
}

#[test]
fn the_page_and_the_picture_show_the_runs_that_found_the_size() {
    let needs = [Need::Tracepoints, Need::Program("python3")];
    let Some(_lock) = requires_shared(&needs) else { return };
    let place = Place::new();
    place.file("mapped", 16 * FILE_MIB);
    // Other programs on the machine may change what runs fill, so that no number is proved in eight runs.
    let proved = (0..3).find(|number| {
        let (page, picture) = (format!("{number}.html"), format!("{number}.svg"));
        let sized = size(&place, &["--html", &page, "--svg", &picture], &mapped(2, 1));
        assert!([0, 4].contains(&sized.status), "{sized:?}");
        sized.status == 0
    });
    let number = proved.expect("a number is proved in one of three tries");
    let page = std::fs::read_to_string(place.path(&format!("{number}.html"))).unwrap();
    assert!(page.contains("Measured.") && page.contains("Runs that found the size"), "{page}");
    assert!(!page.contains("nothing on this page is proved"), "{page}");
    assert!(page.contains("measured, enough"), "{page}");
    let picture = std::fs::read_to_string(place.path(&format!("{number}.svg"))).unwrap();
    assert!(picture.contains("measured, enough"), "{picture}");
}

#[test]
fn a_target_of_time_is_measured_for_any_program() {
    let Some(_lock) = requires(&[Need::Tracepoints, Need::Program("python3")]) else { return };
    let place = Place::new();
    place.file("mapped", 32 * FILE_MIB);
    let check = |target: &str, goal: &str| {
        let options = ["--json", "--target", target, "--max-time", "2m"];
        let sized = size(&place, &options, &mapped(3, 8));
        let document = sized.json();
        let search = &document["search"];
        assert!(search["goal"][goal].as_f64().is_some(), "{target}: {document:#}");
        // Time is noisy; what counts is that the answer says what its own runs showed.
        let number = limit(&document["recommend"]);
        let ends = [number, search["enough_bytes"].as_u64().unwrap()];
        let runs = search["runs"].as_array().unwrap();
        let is_proof = |run: &Value| {
            run["outcome"] == "enough"
                && run["limit_bytes"].as_u64().is_some_and(|at| ends.contains(&at))
        };
        let is_proved = runs.iter().any(is_proof);
        assert_eq!(document["target"]["met"], is_proved, "{target}: {document:#}");
        let want = if is_proved { ("measured", 0) } else { ("unproved", 4) };
        assert_eq!((&document["verdict"], sized.status), (&want.0.into(), want.1), "{document:#}");
        // Other memory and what the file takes are the ends; every run is judged by the goal.
        assert!((8 * MIB..140 * MIB).contains(&number), "{target}: {number}");
        let most = search["goal"][goal].as_f64().unwrap();
        for run in runs {
            let figure = |name: &str| run[name].as_f64().unwrap();
            let reached = match goal {
                "seconds" => figure("seconds"),
                _ => figure("memory_pressure_seconds") / figure("seconds"),
            };
            if run["outcome"] == "enough" && !run["limit_bytes"].is_null() {
                assert!(reached <= most, "{target}: {run:#}");
            }
        }
    };
    check("slowdown=3", "seconds");
    if std::fs::read("/proc/pressure/memory").is_err() {
        return support::skip("this kernel does not count stalls");
    }
    check("stall=5%", "stall");
}
