//! `nbuf run --profile` against a program that knows which of its functions computed how long, and what it touched.

#[expect(dead_code, reason = "each test file uses a part of it")]
mod support;

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;
use std::time::Duration;

use nbuf::experiment::result::{RunDocument, RunProfile, RunSegment, RunSegmentKind};
use nbuf::internal::sys::process::signal;
use support::truth::in_four_tries;
use support::{NBUF, Need, Place, requires, skip};

const NEEDS: [Need; 2] = [Need::Tracepoints, Need::Program("cc")];

/// The program and its library, built once for all tests of this process.
fn truth() -> &'static Path {
    static BUILT: OnceLock<PathBuf> = OnceLock::new();
    BUILT.get_or_init(|| {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("profile");
        fs::create_dir_all(&folder).unwrap();
        built_in(&folder)
    })
}

/// Builds the program and its library.
fn built_in(folder: &Path) -> PathBuf {
    let source = |name: &str| format!("{}/tests/profile/{name}", env!("CARGO_MANIFEST_DIR"));
    let cc = |words: &[&str]| {
        let mut cc = Command::new("cc");
        cc.args(["-O1", "-w", "-g", "-gz=none", "-fno-omit-frame-pointer"]).args(words);
        assert!(cc.current_dir(folder).status().unwrap().success());
    };
    cc(&["-shared", "-fPIC", &source("library.c"), "-o", "libwork.so"]);
    cc(&[&source("truth.c"), "-o", "truth", "-L.", "-lwork", "-Wl,-rpath,$ORIGIN"]);
    // What was changed since the command began would give no names.
    std::thread::sleep(Duration::from_millis(1100));
    folder.join("truth")
}

fn profile(place: &Place, words: &[&str]) -> (RunDocument, RunProfile, String) {
    profile_of(truth(), place, words)
}

fn profile_of(program: &Path, place: &Place, words: &[&str]) -> (RunDocument, RunProfile, String) {
    let words = [&["run", "--profile", "--json", "--", program.to_str().unwrap()], words].concat();
    let output = place.nbuf(words).output().unwrap();
    let error = String::from_utf8(output.stderr).unwrap();
    let mut ran: RunDocument = serde_json::from_slice(&output.stdout).expect(&error);
    assert_eq!(ran.exit_status, 0, "{error}");
    let profile = ran.profile.take().expect(&error);
    (ran, profile, error)
}

fn segment<'a>(profile: &'a RunProfile, name: &str) -> &'a RunSegment {
    let mut all = profile.segments.iter();
    all.find(|segment| segment.name.ends_with(name)).unwrap_or_else(|| panic!("{profile:?}"))
}

/// Checks the two functions against what the program has measured itself.
fn check_ratio(profile: &RunProfile, error: &str) {
    let said = |name: &str| -> f64 {
        error.lines().find_map(|line| line.strip_prefix(name)?.trim().parse().ok()).expect(error)
    };
    let (program, library) = (segment(profile, "/truth"), segment(profile, "/libwork.so"));
    assert_eq!(program.kind, RunSegmentKind::Program);
    assert_eq!(library.kind, RunSegmentKind::Library);
    let of = |segment: &RunSegment, name: &str| {
        let function = segment.functions.iter().find(|function| function.name == name);
        function.unwrap_or_else(|| panic!("{segment:?}")).cpu_seconds
    };
    let computed = of(program, "program_computes");
    let all = computed + of(library, "library_computes");
    let want = said("program ") / (said("program ") + said("library "));
    // Three to one in rounds; the processor may run the two copies of the loop at different speeds.
    assert!((computed / all - want).abs() < 0.1, "{computed} of {all}, not {want}");
    let seconds = said("program ") + said("library ");
    assert!((all - seconds).abs() < 0.1 * seconds, "{all}, not {seconds}");
}

#[test]
fn functions_of_program_and_library_have_their_time() {
    let Some(_lock) = requires(&NEEDS) else { return };
    let place = Place::new();
    in_four_tries(|| {
        let (ran, profile, error) = profile(&place, &["compute", "0.8"]);
        assert!(ran.notes.is_empty(), "{:?}", ran.notes);
        check_ratio(&profile, &error);
        assert!(profile.has_kernel && profile.has_fills && profile.lost == 0);
        let sum: u64 = profile.segments.iter().map(|segment| segment.samples).sum();
        assert_eq!(sum, profile.samples);
        assert_eq!(profile.stacks.iter().map(|stack| stack.samples).sum::<u64>(), sum);
        // With frame pointers the caller is there, and begins with the name of the thread.
        let stack = profile.stacks.iter().find(|stack| {
            stack.frames.ends_with(&["main".to_owned(), "program_computes".to_owned()])
        });
        assert_eq!(stack.unwrap().frames[0], "truth");
    });
}

#[test]
fn a_child_that_is_executed_is_profiled_too() {
    let Some(_lock) = requires(&NEEDS) else { return };
    let place = Place::new();
    in_four_tries(|| {
        let (ran, profile, error) = profile(&place, &["child", "0.6"]);
        assert_eq!(ran.processes, Some(2));
        check_ratio(&profile, &error);
    });
}

#[test]
fn faults_are_counted_by_code_and_by_file() {
    let Some(_lock) = requires(&NEEDS) else { return };
    let place = Place::new();
    place.file("data", 400 * 4096);
    fs::File::open(place.path("data")).unwrap().sync_all().unwrap();
    in_four_tries(|| {
        let (ran, profile, _) = profile(&place, &["map", "400", "data"]);
        let file = profile.files.iter().find(|file| file.name.ends_with("/data")).unwrap();
        assert_eq!((file.faults_major, file.fills), (400, Some(400)), "{profile:?}");
        let code = segment(&profile, "/truth");
        assert_eq!((code.faults_major, code.fills), (400, Some(400)), "{profile:?}");
        let all: u64 = profile.segments.iter().map(|one| one.faults_minor + one.faults_major).sum();
        // Those before the program was executed are not its own.
        assert!(all <= ran.faults_minor + ran.faults_major, "{all}: {ran:?}");
    });
}

#[test]
fn lost_records_are_said() {
    let Some(_lock) = requires(&NEEDS) else { return };
    let mut nbuf = Command::new(NBUF);
    nbuf.args(["run", "--profile", "--json", "--"]).arg(truth()).args(["flood", "3"]);
    nbuf.stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = nbuf.spawn().unwrap();
    let mut error = BufReader::new(child.stderr.take().unwrap());
    let mut line = String::new();
    error.read_line(&mut line).unwrap();
    assert_eq!(line, "flooding\n");
    let pid = i32::try_from(child.id()).unwrap();
    signal(pid, libc::SIGSTOP).unwrap();
    std::thread::sleep(Duration::from_secs(2));
    signal(pid, libc::SIGCONT).unwrap();
    let output = child.wait_with_output().unwrap();
    let ran: RunDocument = serde_json::from_slice(&output.stdout).unwrap();
    assert!(ran.profile.unwrap().lost > 0);
    let notes: Vec<String> = ran.notes.iter().map(ToString::to_string).collect();
    assert!(
        notes.iter().any(|note| note.contains("records of the profile were lost")),
        "{notes:?}"
    );
}

#[test]
fn a_file_that_is_gone_gives_addresses_and_says_so() {
    let Some(_lock) = requires(&NEEDS) else { return };
    let place = Place::new();
    // The library is removed.
    let program = built_in(&place.path(""));
    let (_, profile, _) = profile_of(&program, &place, &["unlink", "200000000", "libwork.so"]);
    let library = segment(&profile, "/libwork.so");
    assert_eq!(library.unnamed.as_deref(), Some("its file is gone"));
    assert!(library.functions[0].name.starts_with("libwork.so+0x"), "{library:?}");
}

#[test]
fn generated_code_has_the_names_of_its_list() {
    let Some(_lock) = requires(&NEEDS) else { return };
    if !cfg!(target_arch = "x86_64") {
        return skip("the generated loop is for x86-64");
    }
    let place = Place::new();
    let (_, profile, error) = profile(&place, &["generate", "0.3", "list"]);
    let list = error.lines().find_map(|line| line.strip_prefix("list ")).expect(&error);
    fs::remove_file(list).unwrap();
    let code =
        segment(&profile, list.trim_end_matches(".map").replace("/tmp/perf-", "process ").as_str());
    assert_eq!((code.kind, code.unnamed.as_ref()), (RunSegmentKind::Anonymous, None));
    assert_eq!(code.functions[0].name, "generated loop", "{code:?}");
    assert!(code.cpu_seconds > 0.15, "{code:?}");
    let (_, profile, _) = self::profile(&place, &["generate", "0.1"]);
    let code = profile.segments.iter().find(|one| one.kind == RunSegmentKind::Anonymous).unwrap();
    assert!(code.unnamed.as_ref().unwrap().contains(".map is missing"), "{code:?}");
    assert_eq!(code.functions[0].name, "[generated code]");
}

#[test]
fn an_ordinary_user_sees_programs_and_what_is_missing() {
    let needs = [Need::Tracepoints, Need::Nobody, Need::Program("setpriv"), Need::Program("cc")];
    let Some(_lock) = requires(&needs) else { return };
    let place = Place::open_to_all().unwrap();
    let program = built_in(&place.path(""));
    let output = Command::new("setpriv")
        .args(["--reuid=65534", "--regid=65534", "--clear-groups"])
        .arg(place.program())
        .args(["run", "--profile", "--json", "--"])
        .arg(program)
        .args(["compute", "0.4"])
        .output()
        .unwrap();
    let error = String::from_utf8_lossy(&output.stderr).into_owned();
    let ran: RunDocument = serde_json::from_slice(&output.stdout).expect(&error);
    let notes: Vec<String> = ran.notes.iter().map(ToString::to_string).collect();
    let Some(profile) = ran.profile else {
        // Where not even one's own programs may be sampled.
        assert!(notes.iter().any(|note| note.contains("the profile is missing")), "{notes:?}");
        return;
    };
    assert!(!profile.has_kernel && !profile.has_fills);
    assert!(notes.iter().any(|note| note.contains("programs and libraries alone")), "{notes:?}");
    assert!(profile.segments.iter().all(|one| one.kind != RunSegmentKind::Kernel), "{profile:?}");
    let computed = segment(&profile, "/truth").functions.first().unwrap();
    assert_eq!(computed.name, "program_computes");
}

#[test]
fn stacks_and_page_are_new_files() {
    let Some(_lock) = requires(&NEEDS) else { return };
    let place = Place::new();
    let run = || {
        let mut nbuf =
            place.nbuf(["run", "--profile", "--folded", "stacks", "--html", "page.html", "--"]);
        nbuf.arg(truth()).args(["compute", "0.2"]).output().unwrap()
    };
    let output = run();
    let error = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success(), "{error}");
    for words in
        ["nbuf: real ", "program_computes", "libwork.so", "minor faults", "samples, one for"]
    {
        assert!(error.contains(words), "{words}: {error}");
    }
    let stacks = fs::read_to_string(place.path("stacks")).unwrap();
    for line in stacks.lines() {
        let (frames, samples) = line.rsplit_once(' ').unwrap();
        assert!(frames.contains("truth") && samples.parse::<u64>().unwrap() > 0, "{line}");
    }
    let page = fs::read_to_string(place.path("page.html")).unwrap();
    assert!(page.contains(">program_computes</th>"), "{page}");
    // What is there stays.
    let output = run();
    assert_ne!(output.status.code(), Some(0));
    let error = String::from_utf8(output.stderr).unwrap();
    assert!(error.contains("--folded") && !error.contains("nbuf: real"), "{error}");
    assert_eq!(fs::read_to_string(place.path("stacks")).unwrap(), stacks);
}
