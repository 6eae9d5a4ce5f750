//! `nbuf load` under a system table and on fewer processors, and the example scripts.

#[expect(dead_code, reason = "each test file uses a part of it")]
mod support;

use std::fs;
use std::path::Path;
use std::process::Output;

use nbuf::experiment::load::Script;
use nbuf::experiment::result::{LoadBottleneck, LoadDocument, LoadLabel, LoadTimes};
use support::truth::in_four_tries;
use support::{Need, Place, missing, requires, requires_shared};

fn run(place: &Place, script: &str, words: &[&str]) -> (i32, String, String) {
    fs::write(place.path("users.toml"), script).unwrap();
    let mut nbuf = place.nbuf(["load", "users.toml"]);
    // What a command that is broken off leaves goes with the place.
    nbuf.env("TMPDIR", place.path(""));
    let Output { status, stdout, stderr } = nbuf.args(words).output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (status.code().unwrap(), text(stdout), text(stderr))
}

#[track_caller]
fn measured(place: &Place, script: &str, words: &[&str]) -> LoadDocument {
    let (status, said, wrong) = run(place, script, &[words, &["--json"]].concat());
    assert_eq!((status, wrong.as_str()), (0, ""), "{said}");
    serde_json::from_str(&said).unwrap()
}

#[test]
fn a_system_table_admits_so_many_at_once() {
    let Some(_lock) = requires(&[]) else { return };
    let place = Place::new();
    let script = "[[class]]\nname = 'users'\ncommand = [{ run = ['sleep', '0.2'] }]\n";
    in_four_tries(|| {
        let words = ["--users", "1,6", "--system-table", "2,6", "--duration", "2s"];
        let load = measured(&place, script, &words);
        let [_, few, _, all] = &load.steps[..] else { panic!("{load:?}") };
        assert_eq!((few.table, few.users, all.table), (Some(2), 6, Some(6)));
        // A place serves five a second at most, and no more than the table has are taken.
        assert!((4.0..=10.5).contains(&few.throughput_per_second), "{few:?}");
        assert!(all.throughput_per_second > 1.5 * few.throughput_per_second, "{all:?}");
        let mean = |times: &Option<LoadTimes>| times.unwrap().mean_seconds;
        // The wait for a place is what response has beyond service.
        let place = few.place_seconds.unwrap();
        let apart = mean(&few.response) - mean(&few.service);
        assert!((0.8..1.2).contains(&(place / apart)), "{few:?}");
        assert!(place > 0.25 && all.place_seconds.unwrap() < 0.1, "{few:?} {all:?}");
        if few.split.is_some() {
            assert_eq!(few.label, LoadLabel::TableBound, "{few:?}");
        }
        let bottleneck = |at: usize| load.curves[at].knee.as_ref().unwrap().bottleneck;
        assert_eq!(bottleneck(0), LoadBottleneck::Table);
        assert!((1.9..2.1).contains(&load.curves[0].knee.as_ref().unwrap().users), "{load:?}");
    });
}

#[test]
fn an_improvement_behind_a_table_halves_the_response_and_not_the_users() {
    let Some(_lock) = requires(&[]) else { return };
    // Each has a script of its own, and sleeps.
    let under = |seconds: &str| {
        let place = Place::new();
        let script =
            format!("[[class]]\nname = 'a'\ncommand = [{{ run = ['sleep', '{seconds}'] }}]\n");
        let words = ["--users", "1,6", "--system-table", "2", "--duration", "4s"];
        measured(&place, &script, &words)
    };
    in_four_tries(|| {
        let (before, after) = std::thread::scope(|scope| {
            let before = scope.spawn(|| under("0.4"));
            let after = under("0.2");
            (before.join().unwrap(), after)
        });
        let knee = |load: &LoadDocument| load.knee.clone().unwrap();
        for load in [&before, &after] {
            assert_eq!(knee(load).bottleneck, LoadBottleneck::Table, "{load:?}");
            assert!((1.95..2.05).contains(&knee(load).users), "{load:?}");
        }
        let response = |load: &LoadDocument| load.steps[1].response.unwrap().mean_seconds;
        let ratio = response(&after) / response(&before);
        assert!((0.4..0.62).contains(&ratio), "{ratio}: {before:?} {after:?}");
    });
}

#[test]
fn a_second_processor_carries_as_much_more_as_without_nbuf() {
    let processors = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    if processors < 2 {
        return support::skip("one processor");
    }
    let Some(_lock) = requires(&[]) else { return };
    let place = Place::new();
    let script = "[[class]]\nname = 'users'\n\
                  command = [{ run = ['sh', '-c', 'i=0; while [ $i -lt 60000 ]; do i=$((i+1)); done'] }]\n";
    in_four_tries(|| {
        let words = ["--users", "4", "--cpus", "1,2", "--duration", "3s"];
        let load = measured(&place, script, &words);
        let [one, two] = &load.steps[..] else { panic!("{load:?}") };
        let ratio = two.throughput_per_second / one.throughput_per_second;
        // Other programs may take a part of both, and two processors may be the threads of one core.
        let bare = loops(&place, 2) / loops(&place, 1);
        assert!((0.7..1.4).contains(&(ratio / bare)), "{ratio} {bare}: {load:?}");
        if one.split.is_some() && two.split.is_some() {
            let labels = (one.label, two.label);
            assert_eq!(labels, (LoadLabel::CpuBound, LoadLabel::CpuBound), "{load:?}");
        }
        let users = |at: usize| load.curves[at].knee.as_ref().unwrap().users;
        assert!((1.0..2.6).contains(&(users(1) / users(0))), "{load:?}");
    });
}

/// How often four shells count to 60,000 within two seconds, on the first processors that are allowed.
fn loops(place: &Place, processors: usize) -> f64 {
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let ranges = status.lines().find_map(|line| line.strip_prefix("Cpus_allowed_list:")).unwrap();
    let ends = |range: &str| {
        let (first, last) = range.split_once('-').unwrap_or((range, range));
        first.parse::<u32>().unwrap()..=last.parse().unwrap()
    };
    let allowed = ranges.trim().split(',').flat_map(ends).take(processors);
    let allowed = allowed.map(|number| number.to_string()).collect::<Vec<_>>().join(",");
    let counts =
        "while :; do i=0; while [ $i -lt 60000 ]; do i=$((i+1)); done; echo >>counted; done";
    let counted = place.path("counted");
    let _ = fs::remove_file(&counted);
    let mut shells = [(); 4].map(|()| {
        let mut shell = std::process::Command::new("taskset");
        shell.args(["-c", &allowed, "sh", "-c", counts]).current_dir(place.path("."));
        shell.spawn().unwrap()
    });
    std::thread::sleep(std::time::Duration::from_secs(2));
    for shell in &mut shells {
        shell.kill().unwrap();
        shell.wait().unwrap();
    }
    fs::read(&counted).unwrap().len() as f64
}

#[test]
fn commands_run_on_the_processors_that_they_are_given() {
    let Some(_lock) = requires_shared(&[]) else { return };
    let place = Place::new();
    let list = "grep Cpus_allowed_list /proc/self/status >>allowed";
    let script =
        format!("[[class]]\nname = 'users'\ncommand = [{{ run = ['sh', '-c', '{list}'] }}]\n");
    let words = ["--users", "2", "--cpus", "1", "--duration", "1s"];
    let load = measured(&place, &script, &words);
    assert_eq!((load.steps[0].cpus, load.curves.len()), (Some(1), 1));
    let allowed = fs::read_to_string(place.path("allowed")).unwrap();
    let one = |line: &str| line.rsplit('\t').next().is_some_and(|list| list.parse::<u32>().is_ok());
    assert!(allowed.lines().count() > 1 && allowed.lines().all(one), "{allowed}");
    let requests = "[[class]]\nname = 'web'\nrequest = [{ get = 'http://127.0.0.1:9/' }]\n";
    for (script, cpus, said) in [
        (&*script, "9999", "--cpus 9999 is not possible: give 1 to "),
        (&script, "0", "`0` is not possible"),
        (requests, "1", "--cpus holds for commands"),
    ] {
        let (status, _, wrong) = run(&place, script, &["--cpus", cpus]);
        assert!(status == 2 && wrong.contains(said), "{wrong}");
    }
}

#[test]
fn the_example_scripts_are_scripts_and_their_commands_run() {
    let Some(_lock) = requires_shared(&[]) else { return };
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/examples/load");
    let place = Place::new();
    let page = fs::read_to_string(Path::new(folder).join("../../load.md")).unwrap();
    let mut names: Vec<String> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    assert_eq!(names, ["http.toml", "programmer.toml", "shell.toml", "sql.toml"]);
    for name in names {
        let text = fs::read_to_string(Path::new(folder).join(&name)).unwrap();
        let script = Script::parse(&text).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert!(script.classes.iter().all(|class| !class.actions.is_empty()), "{name}");
        assert!(page.contains(&format!("(examples/load/{name})")), "{name} is not on the page");
        let runs_here = match name.as_str() {
            "shell.toml" => true,
            "programmer.toml" => missing(Need::Program("cc")).is_none(),
            _ => false,
        };
        if runs_here {
            // Every action comes up, without the think times.
            let load = measured(&place, &text, &["--certify", "4", "--duration", "3s"]);
            let step = &load.steps[0];
            assert!(step.interactions > 10 && step.failed == 0, "{name}: {step:?}");
        }
    }
}
