//! `nbuf load --limit` with programs that read a file of known size.

#[expect(dead_code, reason = "each test file uses a part of it")]
mod support;

use std::fs::{self, File};
use std::io::Write;
use std::process::{Output, Stdio};

use expect_test::expect;
use nbuf::experiment::result::{LoadDocument, LoadLabel, LoadLimit};
use nbuf::internal::sys::cgroup::{Group, Hierarchies};
use nbuf::internal::sys::process::signal;
use nbuf::units::Bytes;
use support::{Need, Place, groups_of, requires, requires_shared, skip, until, with_word};

/// The file that commands read.
const FILE_PAGES: u64 = 6144;
const MAPS: &str = "import mmap
with open('data', 'rb') as f:
    m = mmap.mmap(f.fileno(), 0, prot=mmap.PROT_READ)
    m.madvise(mmap.MADV_RANDOM)
    sum(m[at] for at in range(0, len(m), 4096))";

/// A place with the file, which is in no cache; nothing where no group can be made.
fn place() -> Option<Place> {
    if let Err(error) = Group::create(&Hierarchies::of_this_process()) {
        skip(&format!("no group with a limit: {error}"));
        return None;
    }
    let place = Place::new();
    let mut file = File::create(place.path("data")).unwrap();
    let page: Vec<u8> = (0..4096_u32).map(|at| at.to_le_bytes()[0] ^ 0x5a).collect();
    (0..FILE_PAGES).for_each(|_| file.write_all(&page).unwrap());
    file.sync_all().unwrap();
    Some(place)
}

fn script(run: &[&str]) -> String {
    let think = "think = { kind = 'fixed', seconds = 0.02 }";
    format!("[[class]]\nname = 'readers'\n{think}\ncommand = [{{ run = {run:?} }}]\n")
}

fn run(place: &Place, script: &str, words: &[&str]) -> (i32, String, String) {
    fs::write(place.path("users.toml"), script).unwrap();
    let mut nbuf = place.nbuf(["load", "users.toml", "--users", "1"]);
    let Output { status, stdout, stderr } = nbuf.args(words).output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (status.code().unwrap(), text(stdout), text(stderr))
}

#[test]
fn a_file_that_does_not_fit_is_read_again_by_each_command() {
    let Some(_lock) = requires(&[]) else { return };
    let Some(place) = place() else { return };
    let reads: [(&[&str], bool); 2] = [(&["cat", "data"], false), (&["python3", "-c", MAPS], true)];
    for (command, maps) in reads {
        let [program, ..] = command else { unreachable!() };
        if maps && support::missing(Need::Program("python3")).is_some() {
            skip(&format!("no {program}"));
            continue;
        }
        let words = ["--limit", "96MiB,10MiB", "--cold", "data", "--duration", "4s", "--json"];
        let (status, said, wrong) = run(&place, &script(command), &words);
        assert_eq!((status, wrong.as_str()), (0, ""), "{said}");
        let load: LoadDocument = serde_json::from_str(&said).unwrap();
        let [enough, small] = &load.limits[..] else { panic!("{load:?}") };
        let used = |limit: &LoadLimit| limit.used.unwrap();
        let (enough, small) = (used(enough), used(small));
        assert!(enough.commands > 1 && small.commands > 1, "{load:?}");
        // The first command alone fills the cache, if it is in the figures.
        assert!(enough.fills <= FILE_PAGES + FILE_PAGES / 4, "{enough:?}");
        assert!(small.fills_each >= FILE_PAGES as f64 * 0.95, "{small:?}");
        assert!(small.fills_each > 2.0 * enough.fills_each, "{small:?} {enough:?}");
        let operations = |of: &Option<f64>| of.unwrap_or(f64::NAN);
        if small.disc_operations.is_some() {
            let (few, many) = (&enough.disc_operations_each, &small.disc_operations_each);
            assert!(operations(many) > operations(few), "{small:?} {enough:?}");
        }
        // The first command reads what memory never held.
        if small.commands > 2 && !maps {
            assert_eq!(load.steps[1].label, LoadLabel::CoreBound, "{load:?}");
            let set = load.working_set.unwrap();
            let between = (set.limit_bytes, set.below_bytes);
            assert_eq!(between, (Bytes(96 << 20), Some(Bytes(10 << 20))), "{load:?}");
        }
        assert_ne!(load.steps[0].label, LoadLabel::CoreBound, "{load:?}");
        if maps {
            // Without readahead each page of the file is a fault of its own.
            let each = small.major_faults as f64 / small.commands as f64;
            assert!((0.9..1.3).contains(&(each / FILE_PAGES as f64)), "{small:?}");
            let between = |of: &Option<f64>| of.unwrap_or(f64::INFINITY);
            let (long, short) = (&enough.seconds_between_faults, &small.seconds_between_faults);
            assert!(between(long) > between(short), "{small:?} {enough:?}");
        }
        // A page-second a second is a page: no more than the limit on average, and more than nothing.
        let seconds: f64 = load.steps[1].window_seconds;
        let pages = small.page_seconds.unwrap() / seconds;
        assert!((100.0..=2560.0).contains(&pages), "{pages}: {small:?}");
        assert!(load.steps.iter().all(|step| step.failed == 0), "{load:?}");
    }
}

/// What the group alone counts is divided without a rest, and the class that reads has the reads.
#[test]
fn each_class_has_its_own_cost() {
    let Some(_lock) = requires(&[]) else { return };
    let Some(place) = place() else { return };
    let class = |name: &str, run: &str| {
        let think = "think = { kind = 'fixed', seconds = 0.02 }";
        format!("[[class]]\nname = '{name}'\n{think}\ncommand = [{{ run = {run} }}]\n")
    };
    let text = class("heavy", "['cat', 'data']") + &class("light", "['true']");
    fs::write(place.path("users.toml"), text).unwrap();
    let words = ["load", "users.toml", "--users", "2", "--limit", "10MiB", "--cold", "data"];
    let mut nbuf = place.nbuf(words);
    let price = "cpu=1/h,memory=1/GiBh";
    let output = nbuf.args(["--price", price, "--duration", "4s", "--json"]).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    let load: LoadDocument = serde_json::from_slice(&output.stdout).unwrap();
    let [heavy, light] = &load.costs[..] else { panic!("{load:?}") };
    assert_eq!((heavy.class.as_str(), light.class.as_str()), ("heavy", "light"));
    let all = load.steps[0].used.unwrap();
    assert_eq!(heavy.used.commands + light.used.commands, all.commands);
    let page_seconds = heavy.used.page_seconds.unwrap() + light.used.page_seconds.unwrap();
    assert!((page_seconds / all.page_seconds.unwrap() - 1.0).abs() < 1e-6, "{load:?}");
    assert!(heavy.used.fills_each >= FILE_PAGES as f64 * 0.9, "{heavy:?}");
    assert!(light.used.fills_each < 0.1 * heavy.used.fills_each, "{light:?}");
    if let (Some(many), Some(few)) = (heavy.used.disc_operations, light.used.disc_operations) {
        // Each is rounded.
        assert!((many + few).abs_diff(all.disc_operations.unwrap()) <= 1, "{load:?}");
        assert!(few as f64 <= 0.1 * many as f64 + 1.0, "{load:?}");
    }
    let hours = load.steps[0].window_seconds / 3600.0;
    for cost in [heavy, light] {
        assert!((cost.user_hours / hours - 1.0).abs() < 1e-9, "{cost:?}");
        let an_hour = cost.used.commands as f64 / hours / 1000.0;
        let want = cost.used.price_per_thousand.unwrap() * an_hour;
        assert!((cost.price_per_user_hour.unwrap() / want - 1.0).abs() < 1e-9, "{cost:?}");
    }
    assert!(heavy.used.price_per_thousand > light.used.price_per_thousand, "{load:?}");
}

/// Reads the file for each client, and says when it is asked to end.
const SERVER: &str = "import os, signal
def end(*_):
    open('ended', 'a').write('x')
    os._exit(0)
signal.signal(15, end)
for name in ['in', 'out']:
    os.path.exists(name) or os.mkfifo(name)
while True:
    open('in').read()
    with open('data', 'rb', buffering=0) as f:
        while f.read(65536): pass
    open('out', 'w').close()";

#[test]
fn a_server_is_below_the_limit_with_its_clients() {
    let Some(_lock) = requires(&[Need::Program("python3")]) else { return };
    let Some(place) = place() else { return };
    let with = |run: &[&str], ready: &str| {
        let client = script(&["sh", "-c", "echo go >in; cat out"]);
        format!("{client}\n[[server]]\nrun = {run:?}\nready = ['test', '-p', '{ready}']\n")
    };
    let words = ["--limit", "96MiB,10MiB", "--cold", "data", "--duration", "4s", "--json"];
    let (status, said, wrong) = run(&place, &with(&["python3", "-c", SERVER], "out"), &words);
    assert_eq!((status, wrong.as_str()), (0, ""), "{said}");
    let load: LoadDocument = serde_json::from_str(&said).unwrap();
    let used = |at: usize| load.limits[at].used.unwrap();
    let (enough, small) = (used(0), used(1));
    // The client reads nothing: all of it is of the server.
    if small.disc_operations.is_some() {
        assert!(small.fills_each >= FILE_PAGES as f64 * 0.9, "{small:?}");
        assert!(small.fills_each > 2.0 * enough.fills_each, "{small:?} {enough:?}");
        assert!(enough.cpu_seconds_each > 0.0, "{enough:?}");
        let steps = &load.steps;
        // What the small group read had been in it before; that is no question of what other programs do.
        assert!(steps[1].refaults as f64 > 0.5 * small.fills as f64, "{load:?}");
        assert!((steps[0].refaults as f64) < 0.1 * small.fills as f64, "{load:?}");
        assert_eq!(steps[1].label, LoadLabel::CoreBound, "{load:?}");
    }
    assert_eq!(fs::read_to_string(place.path("ended")).unwrap(), "xx");
    for (run_it, want, said) in [
        (&["true"][..], 125, "nbuf: the server `true` ended at once"),
        (&["no-such-server"], 127, "nbuf: no-such-server: command not found"),
    ] {
        let (status, _, wrong) = run(&place, &with(run_it, "never"), &["--limit", "64MiB"]);
        assert!(status == want && wrong.starts_with(said), "{status}: {wrong}");
    }
    // Something else may answer in the place of a server that has ended.
    for (seconds, said) in [
        ("0", "the server `sleep 0` ended at once"),
        ("0.7", "`sleep 0.7` ended before the last step"),
    ] {
        let server = format!("[[server]]\nrun = ['sleep', '{seconds}']\nready = ['true']\n");
        let script = format!("{}\n{server}", script(&["true"]));
        let (status, _, wrong) = run(&place, &script, &["--limit", "64MiB", "--duration", "2s"]);
        assert!(status == 125 && wrong.contains(said), "{status}: {wrong}");
    }
}

#[test]
fn no_group_is_left_on_any_way_out() {
    let Some(_lock) = requires(&[]) else { return };
    let Some(place) = place() else { return };
    for (number, seconds) in [(2, "98763.25"), (9, "98764.25")] {
        let text = script(&["sh", "-c", &format!("sleep {seconds} & wait")]);
        fs::write(place.path("users.toml"), text).unwrap();
        let words = ["load", "users.toml", "--users", "2", "--duration", "10m", "--limit", "64MiB"];
        let mut nbuf = place.nbuf(words);
        let child = nbuf.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let pid = child.id();
        until("both users sleep", || with_word(seconds).len() == 2);
        let Hierarchies { memory_v1, blkio_v1, unified } = Hierarchies::of_this_process();
        let parents: Vec<_> = [memory_v1, blkio_v1, unified].into_iter().flatten().collect();
        let names = groups_of(pid);
        let listed = || {
            let all = parents.iter().flat_map(|parent| names.iter().map(|name| parent.join(name)));
            all.filter_map(|group| fs::read_to_string(group.join("cgroup.procs")).ok())
        };
        // The shells and what they started, in each hierarchy.
        until("all are inside", || listed().all(|list| list.lines().count() == 4));
        assert!(listed().count() > 0, "{names:?}");
        signal(i32::try_from(pid).unwrap(), number).unwrap();
        let output = child.wait_with_output().unwrap();
        let want = if number == 2 { Some(130) } else { None };
        assert_eq!(output.status.code(), want, "{output:?}");
        until("nothing is left", || with_word(seconds).is_empty() && groups_of(pid).is_empty());
    }
}

#[test]
fn what_does_not_fit_ends_with_one_line() {
    let Some(_lock) = requires_shared(&[]) else { return };
    let Some(place) = place() else { return };
    let requests = "[[class]]\nname = 'web'\nrequest = [{ get = 'http://127.0.0.1:9/' }]\n";
    let cat = script(&["cat", "data"]);
    let mut said = String::new();
    for (script, limit) in [(&*cat, "much"), (&cat, "64MiB,64MiB"), (requests, "64MiB")] {
        let (status, out, wrong) = run(&place, script, &["--limit", limit]);
        assert_eq!((status, out.as_str()), (2, ""), "{wrong}");
        said += wrong.lines().next().unwrap();
        said += "\n";
    }
    expect![[r#"
        nbuf: invalid value 'much' for '--limit <SIZE,...>': `much` is no memory limit: write 512MiB or 1GiB,512MiB,256MiB
        nbuf: invalid value '64MiB,64MiB' for '--limit <SIZE,...>': 64.0 MiB is there twice
        nbuf: --limit holds for commands, and the script has requests only: name a command, or leave out --limit
    "#]].assert_eq(&said);
    // What was measured before is printed.
    let words = ["--limit", "64MiB,4KiB", "--duration", "2s"];
    let (status, out, wrong) = run(&place, &cat, &words);
    assert_eq!((status, wrong.lines().count()), (125, 1), "{out}\n{wrong}");
    let start = "nbuf: a limit of 4.00 KiB is too small for the commands: the kernel killed all ";
    assert!(wrong.starts_with(start) && out.contains("64.0 MiB"), "{out}\n{wrong}");
}
