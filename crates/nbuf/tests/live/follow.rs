//! Programs that are followed: windows without end, restarts, scrapes, and every way out.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::{Child, ChildStdout, Stdio};

use nbuf::experiment::document;
use nbuf::experiment::result::{LiveDocument, LiveFollow, LivePoint};
use nbuf::internal::sys::cgroup::Hierarchies;

use super::service::{Group, Service};
use super::support::{Need, Place, is_alive, requires_shared, skip, until, with_word};

const PAGES: usize = 1500;

/// A `nbuf size --follow` that runs, and the lines that it prints.
struct Following {
    nbuf: Child,
    lines: BufReader<ChildStdout>,
}

impl Following {
    fn start(place: &Place, words: &[&str]) -> Self {
        let mut nbuf = place.nbuf([&["size", "--follow"], words].concat());
        let mut nbuf = nbuf.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let lines = BufReader::new(nbuf.stdout.take().unwrap());
        Self { nbuf, lines }
    }

    /// Where its metrics are.
    fn address(&mut self) -> String {
        let mut line = String::new();
        let mut error = BufReader::new(self.nbuf.stderr.take().unwrap());
        error.read_line(&mut line).unwrap();
        let url = line.trim_end().strip_prefix("nbuf: metrics at http://").expect(&line);
        url.strip_suffix("/metrics").unwrap().to_owned()
    }

    fn line(&mut self) -> LiveFollow {
        let mut text = String::new();
        self.lines.read_line(&mut text).unwrap();
        document::read(text.as_bytes()).unwrap_or_else(|error| panic!("{error}: {text}"))
    }

    fn signal(&self, signal: rustix::process::Signal) {
        let pid = rustix::process::Pid::from_raw(self.nbuf.id().cast_signed()).unwrap();
        rustix::process::kill_process(pid, signal).unwrap();
    }

    /// The rest of the lines, and the exit status.
    fn end(mut self) -> (String, Option<i32>) {
        let mut rest = String::new();
        self.lines.read_to_string(&mut rest).unwrap();
        (rest, self.nbuf.wait().unwrap().code())
    }
}

fn asked(address: &str, path: &str) -> (u16, String) {
    let mut stream = TcpStream::connect(address).unwrap();
    write!(stream, "GET {path} HTTP/1.0\r\n\r\n").unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    let (head, body) = answer.split_once("\r\n\r\n").unwrap();
    (head.split(' ').nth(1).unwrap().parse().unwrap(), body.to_owned())
}

/// Reads `OpenMetrics`: each sample has a family with a type, a number, and the end of a name that its type demands.
fn parsed(text: &str) -> BTreeMap<String, f64> {
    let body = text.strip_suffix("# EOF\n").expect("it is whole");
    let (mut kinds, mut samples) = (BTreeMap::new(), BTreeMap::new());
    for line in body.lines() {
        if let Some(words) = line.strip_prefix("# TYPE ") {
            let (name, kind) = words.split_once(' ').unwrap();
            assert!(kinds.insert(name.to_owned(), kind.to_owned()).is_none(), "{name} twice");
        } else if !line.starts_with('#') {
            let (name, value) = line.rsplit_once(' ').unwrap();
            let plain = name.split('{').next().unwrap();
            let is_counter = plain
                .strip_suffix("_total")
                .is_some_and(|it| kinds.get(it).is_some_and(|it| it == "counter"));
            assert!(is_counter || kinds.get(plain).is_some_and(|kind| kind == "gauge"), "{line}");
            assert!(samples.insert(name.to_owned(), value.parse().unwrap()).is_none(), "{line}");
        }
    }
    samples
}

/// Names of figures in the queries of the Grafana dashboard.
fn names_of_the_dashboard() -> Vec<String> {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../packaging/grafana/nbuf-live.json");
    let dashboard: serde_json::Value =
        serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap();
    let panels = dashboard["panels"].as_array().unwrap().iter();
    let targets = panels.flat_map(|panel| panel["targets"].as_array().unwrap());
    let mut names = Vec::new();
    for target in targets {
        let query = target["expr"].as_str().unwrap();
        let words = query.split(|c: char| !c.is_ascii_alphanumeric() && c != '_');
        names.extend(words.filter(|word| word.starts_with("nbuf_")).map(str::to_owned));
    }
    names
}

/// The pages of the file are read at random, each as often as any other: a cache of a share of them hits that share.
fn check_curve(live: &LiveDocument, hot_bytes: f64) {
    let file = (PAGES * 4096) as f64;
    let share = |point: &LivePoint| (point.cache_bytes.0 as f64 - hot_bytes) / file;
    // Below, touches of the interpreter count, whose order within an interval is not known.
    let judged = live.points.iter().filter(|point| (0.3..=0.9).contains(&share(point)));
    let judged: Vec<&LivePoint> = judged.collect();
    assert!(judged.len() >= 3, "{live:?}");
    let (first, rest) = judged.split_first().unwrap();
    for point in rest {
        let want = (1.0 - share(point)) / (1.0 - share(first));
        let got = point.misses_per_second / first.misses_per_second;
        assert!((got - want).abs() < 0.1, "{got}, not {want}, hot {hot_bytes}: {point:?} {live:?}");
    }
}

#[test]
fn a_service_is_followed_through_its_restarts() {
    let Some(_lock) = requires_shared(&[Need::Tracepoints, Need::Program("python3")]) else {
        return;
    };
    let Some(parent) = Hierarchies::of_this_process().memory_v1 else {
        return skip("no memory controller of version 1 to make groups of our own");
    };
    let group = Group::make(&parent, "follow");
    let place = Place::new();
    let path = place.file("data", PAGES * 4096);
    File::open(&path).unwrap().sync_all().unwrap();
    let name = group.0.display().to_string();
    // Whether touches of the interpreter count depends on what else runs here.
    let words = ["--cgroup", &name, "--every", "1s", "--metrics", "0", "--target", "hit=0.5"];
    let words = [&words[..], &["--mmap", "off"]].concat();
    let service = Service::start_in(&group.0, &path);
    let mut following = Following::start(&place, &words);
    let address = following.address();
    assert!(address.starts_with("127.0.0.1:"), "{address}");
    let fourth = std::iter::repeat_with(|| following.line()).take(4).last().unwrap();
    let old = service.pid().parse::<u32>().unwrap();
    assert_eq!((&fourth.processes[..], &fourth.absent, fourth.window), (&[old][..], &None, 4));
    let live = fourth.live.expect("it was watched");
    assert!(live.memory.is_charged && live.lost == 0 && live.answer.is_some(), "{live:?}");
    let hot_bytes = live.touched_bytes.0 as f64 - (PAGES * 4096) as f64;
    check_curve(&live, hot_bytes);
    let samples = parsed(&asked(&address, "/metrics").1);
    for name in names_of_the_dashboard() {
        assert!(
            samples.keys().any(|sample| sample.split('{').next() == Some(&name)),
            "{name}: {samples:?}"
        );
    }
    assert_eq!(asked(&address, "/").0, 404);

    drop(service);
    let absent = std::iter::repeat_with(|| following.line()).take(5).find_map(|line| line.absent);
    assert!(absent.is_some_and(|reason| reason.contains("has no processes")));
    let service = Service::start_in(&group.0, &path);
    let new = service.pid().parse::<u32>().unwrap();
    // Lines of the time in which the service was started may wait in the pipe.
    let mut lines = std::iter::repeat_with(|| following.line()).take(60);
    assert!(lines.by_ref().any(|line| line.processes == [new]));
    let last = lines.nth(3).unwrap();
    assert_eq!((&last.processes[..], last.attached), (&[new][..], 1), "{last:?}");
    check_curve(last.live.as_ref().unwrap(), hot_bytes);
    assert!(last.nbuf_cpu_seconds > 0.0 && last.windows >= 8, "{last:?}");

    // A port that is taken.
    let output = place.nbuf(["size", "--follow", "--cgroup", &name, "--metrics", &address]);
    let output = { output }.output().unwrap();
    let text = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.code() == Some(125) && text.contains("give another port"), "{text}");
    following.signal(rustix::process::Signal::TERM);
    let (rest, status) = following.end();
    assert_eq!(status, Some(0), "{rest}");
    let ended: LiveFollow = document::read(rest.lines().last().unwrap().as_bytes()).unwrap();
    // The signal may come between two windows; then the last one was whole.
    assert!([Some(15), None].contains(&ended.live.unwrap().interrupted));
    assert!(is_alive(&service.pid()));
}

#[test]
fn every_way_out_leaves_the_service_and_nothing_of_nbuf() {
    let Some(_lock) = requires_shared(&[Need::Tracepoints, Need::Program("python3")]) else {
        return;
    };
    let place = Place::new();
    let path = place.file("data", PAGES * 4096);
    let service = Service::start(&path, "read", "now");
    let pid = service.pid();
    let mut killed = Following::start(&place, &["--pid", &pid, "--every", "1s"]);
    assert!(killed.line().live.is_some());
    killed.signal(rustix::process::Signal::KILL);
    assert_eq!(killed.end().1, None);
    let left = || with_word(place.path("").to_str().unwrap());
    until("nothing of nbuf is left", || left().is_empty());
    // As with `head -1`.
    let mut headed = Following::start(&place, &["--pid", &pid, "--every", "1s"]);
    assert!(headed.line().live.is_some());
    let Following { mut nbuf, lines } = headed;
    drop(lines);
    let mut error = String::new();
    nbuf.stderr.take().unwrap().read_to_string(&mut error).unwrap();
    assert_eq!((nbuf.wait().unwrap().code(), error.as_str()), (Some(0), ""));
    assert!(is_alive(&pid));
    // A group that is not there is no end.
    let mut absent =
        Following::start(&place, &["--unit", "nbuf-has-no-such-unit", "--every", "1s"]);
    for window in 1..3 {
        let line = absent.line();
        let reason = line.absent.unwrap();
        assert!(line.window == window && reason.contains("no unit `nbuf-has-no-such-unit` runs"));
    }
    absent.signal(rustix::process::Signal::INT);
    assert_eq!(absent.end().1, Some(0));
    // The end of a process is.
    let mut followed = Following::start(&place, &["--pid", &pid, "--every", "1s"]);
    assert!(followed.line().live.is_some());
    drop(service);
    let (rest, status) = followed.end();
    assert_eq!(status, Some(0), "{rest}");
    let line: LiveFollow = document::read(rest.lines().last().unwrap().as_bytes()).unwrap();
    assert_eq!(line.absent.as_deref(), Some("all of its processes have ended"));
}

#[test]
fn what_cannot_be_followed_is_refused() {
    let Some(_lock) = requires_shared(&[Need::Tracepoints]) else { return };
    let place = Place::new();
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let taken = taken.local_addr().unwrap().to_string();
    let own = std::process::id().to_string();
    for (words, status, want) in [
        (&["--follow", "--", "true"][..], 2, "--pid"),
        (&["--follow", "--pid", "1", "--for", "3s"], 2, "cannot be used with"),
        (&["--pid", "1", "--metrics", "0"], 2, "--follow"),
        (&["--pid", "1", "--every", "3s"], 2, "--follow"),
        (&["--follow", "--pid", "1", "--every", "2h"], 2, "from 1s to 1h"),
        (&["--follow", "--pid", "1", "--metrics", "localhost:1"], 2, "write a port"),
        (&["--follow", "--pid", &own, "--metrics", &taken], 125, "give another port"),
        (&["--follow", "--pid", &own, "--metrics", "192.0.2.1:1"], 125, "cannot listen at"),
        (&["--follow", "--pid", "4194305"], 125, "no process has the number 4194305"),
        (&["--follow", "--pid", "2"], 125, "a thread of the kernel"),
    ] {
        let output = place.nbuf([&["size"], words].concat()).output().unwrap();
        let text = String::from_utf8_lossy(&output.stderr);
        assert!(text.contains(want), "{words:?}: {text}");
        assert_eq!(output.status.code(), Some(status), "{words:?}: {text}");
    }
}
