//! `nbuf curve`: what it draws, and what it says to those who ask for what cannot be.

#[path = "curves/around.rs"]
mod around;
#[path = "curves/objects.rs"]
mod objects;
#[path = "curves/prefetch.rs"]
mod prefetch;
#[path = "curves/snapshot.rs"]
mod snapshot;
#[expect(dead_code, reason = "each test file uses a part of it")]
mod support;

use std::fmt::Write as _;
use std::fs;
use std::io::{Read, Write};
use std::process::{Command, Output, Stdio};

use serde_json::Value;
use support::{NBUF, Place};

/// Runs `nbuf curve` in a place.
fn curve(place: &Place, arguments: &[&str]) -> Output {
    let mut command = Command::new(NBUF);
    command.arg("curve").args(arguments).current_dir(place.path("."));
    command.stdin(Stdio::null()).output().unwrap()
}

fn document(place: &Place, arguments: &[&str]) -> Value {
    let output = curve(place, &[arguments, &["--json"]].concat());
    assert!(output.status.success(), "{output:?}");
    serde_json::from_slice(&output.stdout).unwrap()
}

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// A block trace of fio: two files, reads of up to three pages, some writes and a trim.
fn blocks(place: &Place) {
    let mut text = "fio version 2 iolog\n/a add\n/b add\n/a open\n/b open\n".to_owned();
    for at in 0..3000u64 {
        let file = if at % 3 == 0 { "/b" } else { "/a" };
        let action = if at % 10 == 9 { "write" } else { "read" };
        let (offset, length) = (at * 7 % 100 * 4096 + 100, at % 3 * 4096 + 1);
        writeln!(text, "{file} {action} {offset} {length}").unwrap();
    }
    text += "/a trim 0 4096\n/a close\n/b close\n";
    fs::write(place.path("blocks.log"), text).unwrap();
}

/// Keys, one a line: a loop over a hundred, with others in between.
fn keys(place: &Place) -> String {
    let line = |at: u64| if at.is_multiple_of(4) { at * at % 997 + 100 } else { at % 100 };
    let text = (0..20_000).fold(String::new(), |text, at| text + &line(at).to_string() + "\n");
    fs::write(place.path("keys.txt"), &text).unwrap();
    text
}

#[test]
fn the_name_of_a_synthetic_workload_leads_to_its_generator() {
    let cases: [(&[&str], i32, &str); 3] = [
        (&["zipf:alpha=1,keys=5"], 125, "`nbuf trace generate zipf -o FILE`"),
        (&["loop:"], 125, "loop: is a synthetic workload, and a trace is read from a file"),
        (&["nonsense:keys=5"], 125, "cannot open nonsense:keys=5"),
    ];
    refused(&Place::new(), &cases);
}

#[test]
fn a_wrong_request_gets_one_line_that_says_what_to_do() {
    let place = Place::new();
    keys(&place);
    blocks(&place);
    fs::write(place.path("empty"), "").unwrap();
    fs::write(
        place.path("noise"),
        (0..9000u32).map(|n| (n * n % 251) as u8 ^ 0xa5).collect::<Vec<_>>(),
    )
    .unwrap();
    fs::write(place.path("table.csv"), "lbn,bytes\n1,2\n3,4\n").unwrap();
    fs::write(place.path("below.csv"), "key,size,cost\n1,2,-3\n").unwrap();
    let cases: [(&[&str], i32, &str); 34] = [
        (
            &["--cost", "cost", "below.csv"],
            125,
            "1 record cannot be read, the first at below.csv, line 2",
        ),
        (&["missing"], 125, "cannot open missing"),
        (&["."], 125, ". is a directory: name the files in it"),
        (&["empty"], 125, "empty is empty"),
        (&["noise"], 125, "noise is a binary file of no known format: name its format with --from"),
        (&["--from", "nonsense", "keys.txt"], 2, "there is no format `nonsense`"),
        (&["--from", "csv:key=color", "table.csv"], 125, "there is no column `color`"),
        (&["--size", "0", "keys.txt"], 2, "a cache of less than one page hits nothing"),
        (&["--size", "0..4:1", "keys.txt"], 2, "a cache of less than one page hits nothing"),
        (&["--size", "0%", "keys.txt"], 2, "a cache of less than one page hits nothing"),
        (&["--size", "-5", "keys.txt"], 2, "`-5` is not a size"),
        (&["--size", "5%..1%", "keys.txt"], 2, "the range `5%..1%` has no sizes"),
        (&["--size", "ten", "keys.txt"], 2, "`ten` is not a size"),
        (&["--size", "5..1", "keys.txt"], 2, "the range `5..1` has no sizes"),
        (
            &["--size", "64MiB", "--from", "keys", "keys.txt"],
            125,
            "the keys of keys.txt have no bytes here, because keys gives no sizes",
        ),
        (&["--overhead", "10%", "keys.txt"], 2, "write bytes up to 1GiB, such as 56"),
        (&["--policy", "best", "keys.txt"], 2, "'--policy <POLICY,...>': write one of lru, fifo,"),
        (
            &["--policy", "S3-FIF", "keys.txt"],
            2,
            "'S3-FIF' for '--policy <POLICY,...>': did you mean s3-fifo?",
        ),
        (
            &["--policy", "lirrs", "keys.txt"],
            2,
            "did you mean lirs? Write that, or another of lru,",
        ),
        (&["--policy", "", "keys.txt"], 2, "none was supplied: write one of lru, fifo,"),
        (&["--policy", "best:busy=1", "keys.txt"], 2, "write one of lru, fifo,"),
        (
            &["--policy", "all:busy=1", "keys.txt"],
            2,
            "did you mean all? Write that, or another of lru",
        ),
        (&["--by", "colour", "keys.txt"], 2, "write one of file, task, op"),
        (&["--policy", "lru:busy=1", "keys.txt"], 2, "lru has no parameter: write lru alone"),
        (&["--policy", "v1:busy=-1", "keys.txt"], 2, "`busy=-1` is no parameter of v1: write v1:b"),
        (&["--policy", "v1:k=1", "keys.txt"], 2, "`k=1` is no parameter of v1: write v1:busy=N"),
        (&["--page", "1000", "blocks.log"], 2, "write a power of two"),
        (&["--sample", "0", "keys.txt"], 2, "write a share of the keys"),
        (&["--sample", "-1", "keys.txt"], 2, "write a share of the keys"),
        (&["--sample", "0.1", "--policy", "w-tinylfu", "keys.txt"], 2, "--sample cannot draw"),
        (&["--target", "slowdown=1.1", "keys.txt"], 2, "`nbuf size` measures it"),
        (&["--window", "soon", "keys.txt"], 2, "write 1h, 10m"),
        (&["--html", "keys.txt", "keys.txt"], 125, "keys.txt exists"),
        (&[], 2, "Usage"),
    ];
    refused(&place, &cases);
}

#[test]
fn policies_have_other_names_in_the_field() {
    let place = Place::new();
    keys(&place);
    refused(
        &place,
        &[
            (
                &["--policy", "lruk", "keys.txt"],
                2,
                "did you mean lru-2? Write that, or another of lru,",
            ),
            (
                &["--policy", "Segmented-LRU", "keys.txt"],
                2,
                "did you mean slru? Write that, or another of lru,",
            ),
        ],
    );
}

#[test]
fn what_a_trace_cannot_be_split_by_is_refused() {
    let place = Place::new();
    keys(&place);
    refused(
        &place,
        &[
            (&["--window", "1h", "keys.txt"], 125, "--window cannot cut keys.txt by time"),
            (&["--window", "9", "--policy", "fifo", "keys.txt"], 2, "add lru to --policy"),
            (&["--by", "file", "keys.txt"], 125, "--by file cannot split keys.txt"),
            (&["--by", "task", "keys.txt"], 125, "--by task cannot split keys.txt"),
            (
                &["--page", "512", "keys.txt"],
                125,
                "keys.txt has keys and no pages (lirs), so --page has no meaning: leave it out",
            ),
            (&["--unit", "page", "keys.txt"], 125, "so --unit page has no meaning: leave it out"),
            (
                &["--cost", "cost", "--target", "price=3.5,0.4", "keys.txt"],
                2,
                "--target price= has one price for all misses, and --cost has a price for each",
            ),
            (&["--warmup", "100%", "keys.txt"], 2, "or a share below 100%"),
            (&["--warmup", "ten", "keys.txt"], 2, "write a number of requests"),
            (&["--warmup", "20000", "keys.txt"], 125, "--warmup 20000 leaves nothing to count"),
            (&["--warmup", "20000", "--sample", "0.9", "keys.txt"], 125, "leaves nothing to count"),
        ],
    );
}

/// Each of these ends with this status and a line that has this text.
fn refused(place: &Place, cases: &[(&[&str], i32, &str)]) {
    for &(arguments, status, want) in cases {
        let output = curve(place, arguments);
        let said = stderr(&output);
        assert_eq!(output.status.code(), Some(status), "{arguments:?}: {said}");
        assert!(said.contains(want), "{arguments:?}: {said}");
        assert!(output.stdout.is_empty(), "{arguments:?}");
        if !arguments.is_empty() {
            let line = said.lines().find(|line| line.contains(want)).unwrap();
            assert!(line.starts_with("nbuf: "), "{line}");
            assert!(status == 125 || said.lines().count() == 1, "{said}");
        }
    }
}

#[test]
fn traces_at_the_edges_are_drawn() {
    let place = Place::new();
    let check = |text: String, size: &str, want: (u64, u64)| {
        fs::write(place.path("edge.txt"), text).unwrap();
        let document = document(&place, &["--from", "keys", "--size", size, "edge.txt"]);
        for curve in document["curves"].as_array().unwrap() {
            let points = curve["points"].as_array().unwrap();
            let last = points.last().unwrap();
            assert_eq!(last["accesses"], want.0, "{curve:#}");
            assert_eq!(last["misses"], want.1, "{curve:#}");
        }
    };
    check("7\n".repeat(50), "1", (50, 1));
    check("7\n".repeat(50), "100%,1000", (50, 1));
    check((0..500).fold(String::new(), |text, n| format!("{text}{n}\n")), "1000", (500, 500));
    check("7\n".to_owned(), "1..5:1", (1, 1));
}

#[test]
fn pages_requests_and_writes_are_what_was_asked_for() {
    let place = Place::new();
    blocks(&place);
    let last = |arguments: &[&str]| {
        let document = document(&place, &[arguments, &["--policy", "lru", "blocks.log"]].concat());
        let curve = &document["curves"][0];
        let point = curve["points"].as_array().unwrap().last().unwrap().clone();
        let number = |value: &Value| value.as_u64().unwrap();
        (number(&curve["distinct_pages"]), number(&point["accesses"]), number(&point["requests"]))
    };
    // A third of the requests has each length; 100 bytes in, n pages and a byte are n + 1 pages.
    assert_eq!(last(&[]).1, 1000 * (1 + 2 + 3));
    assert_eq!(last(&[]).2, 3000);
    assert_eq!(last(&["--writes", "ignore"]).2, 2700);
    assert_eq!(last(&["--unit", "request"]), (200, 3000, 3000));
    assert!(last(&["--page", "64KiB"]).0 < last(&[]).0 / 8);
    let both = document(&place, &["--page", "4KiB,64KiB", "--policy", "lru,fifo", "blocks.log"]);
    let pages: Vec<_> =
        both["curves"].as_array().unwrap().iter().map(|c| c["page_bytes"].as_u64()).collect();
    assert_eq!(pages, [Some(4096), Some(4096), Some(65536), Some(65536)]);
    let names = document(&place, &["--by", "file", "blocks.log"]);
    let groups = names["curves"][0]["groups"].as_array().unwrap();
    let found: Vec<_> = groups.iter().map(|group| group["name"].as_str().unwrap()).collect();
    assert_eq!(found, ["/a", "/b"]);
}

#[test]
fn a_pipe_gives_the_curve_of_the_file() {
    let place = Place::new();
    let text = keys(&place);
    let piped = |arguments: &[&str]| {
        let mut child = Command::new(NBUF)
            .args(["curve", "--json", "--from", "keys"])
            .args(arguments)
            .arg("-")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        child.stdin.take().unwrap().write_all(text.as_bytes()).unwrap();
        let output = child.wait_with_output().unwrap();
        (serde_json::from_slice::<Value>(&output.stdout), stderr(&output))
    };
    let of_file = document(&place, &["--from", "keys", "--policy", "lru", "keys.txt"]);
    let (of_pipe, _) = piped(&[]);
    assert_eq!(of_pipe.unwrap()["curves"][0]["points"], of_file["curves"][0]["points"]);
    let (of_pipe, said) = piped(&["--policy", "lru,opt", "--size", "50"]);
    let of_pipe = of_pipe.unwrap();
    let of_file = document(&place, &["--from", "keys", "--size", "50", "keys.txt"]);
    assert_eq!(of_pipe["curves"], of_file["curves"]);
    assert_eq!(of_pipe["curves"].as_array().unwrap().len(), 2);
    assert!(said.contains("keys (keys)"), "{said}");
    let (nothing, said) = piped(&["--sample", "auto"]);
    assert!(nothing.is_err() && said.contains("a pipe can be read only once"), "{said}");
    let (nothing, said) = piped(&["--sample", "0.5", "--policy", "arc"]);
    assert!(nothing.is_err() && said.contains("several times for other policies"), "{said}");
    let (nothing, said) = piped(&["--policy", "fifo", "--size", "10%"]);
    assert!(nothing.is_err() && said.contains("a pipe is read once"), "{said}");
}

#[test]
fn a_sample_holds_the_truth_in_its_band_and_says_what_it_is() {
    let place = Place::new();
    keys(&place);
    let exact = document(
        &place,
        &["--from", "keys", "--policy", "lru", "--size", "50,200,500", "keys.txt"],
    );
    let sampled = document(
        &place,
        &["--from", "keys", "--sample", "0.9", "--size", "50,200,500", "keys.txt"],
    );
    let curve = &sampled["curves"][0];
    assert_eq!(curve["sample"]["rate"], 0.9);
    let points = curve["points"].as_array().unwrap();
    assert!(!points.is_empty());
    for point in points {
        let truth = exact["curves"][0]["points"].as_array().unwrap().iter();
        let truth = truth.clone().find(|exact| exact["pages"] == point["pages"]).unwrap();
        let misses = truth["misses"].as_u64().unwrap();
        assert!(point["misses_low"].as_u64().unwrap() <= misses + 200, "{point} {truth}");
        assert!(point["misses_high"].as_u64().unwrap() + 200 >= misses, "{point} {truth}");
    }
    let auto =
        document(&place, &["--from", "keys", "--sample", "auto", "--tolerance", "0.1", "keys.txt"]);
    let width = |point: &Value| {
        point["misses_high"].as_u64().unwrap() - point["misses_low"].as_u64().unwrap()
    };
    let points = auto["curves"][0]["points"].as_array().unwrap();
    assert!(points.iter().all(|point| width(point) <= 2 * 20), "{auto:#}");
}

#[test]
fn every_face_shows_the_same_curve() {
    let place = Place::new();
    keys(&place);
    let arguments = ["--from", "keys", "--policy", "lru,fifo", "--size", "50,500", "keys.txt"];
    let document = document(&place, &arguments);
    assert_eq!(document["schema"], "nbuf.curve/1");
    let csv = curve(&place, &[&arguments[..], &["--csv"]].concat());
    let csv = String::from_utf8(csv.stdout).unwrap();
    assert!(csv.starts_with("policy,page_bytes,pages,"), "{csv}");
    for curve in document["curves"].as_array().unwrap() {
        for point in curve["points"].as_array().unwrap() {
            let name = curve["policy"].as_str().unwrap();
            let begin = format!("{name},,{},", point["pages"]);
            let line = csv.lines().find(|line| line.starts_with(&begin)).unwrap();
            assert!(line.contains(&point["misses"].to_string()), "{line} {point}");
        }
    }
    let shown = curve(&place, &[&arguments[..], &["--html", "page.html"]].concat());
    let shown = String::from_utf8(shown.stdout).unwrap();
    assert!(shown.contains("lru") && shown.contains("fifo"), "{shown}");
    let page = fs::read_to_string(place.path("page.html")).unwrap();
    assert!(page.contains("</html>") && !page.contains("http://"), "{}", page.len());
    let knee = curve(&place, &[&arguments[..], &["--knee"]].concat());
    let knee = String::from_utf8(knee.stdout).unwrap();
    assert!(knee.starts_with("lru: floor "), "{knee}");
    // Two sizes of fifo are no curve.
    assert!(
        knee.contains(
            "\nfifo: no knee is known of it; add the size that holds everything: --size "
        ),
        "{knee}"
    );
    let with_target = ["--knee", "--policy", "lru", "--target", "hit=0.5"];
    let knee = curve(&place, &[&["--from", "keys", "keys.txt"], &with_target[..]].concat());
    let knee = String::from_utf8(knee.stdout).unwrap();
    assert!(knee.contains("; --target hit=0.5 needs "), "{knee}");
}

#[test]
fn a_reader_who_leaves_early_is_no_failure() {
    let place = Place::new();
    keys(&place);
    let mut child = Command::new(NBUF)
        .args(["curve", "--from", "keys", "--policy", "all", "keys.txt"])
        .current_dir(place.path("."))
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    assert!(child.wait().unwrap().success());
}

#[test]
fn ctrl_c_shows_what_was_read_by_then() {
    // `env` gives back the signal that some shells have their background jobs ignore.
    let mut child = Command::new("env")
        .args(["--default-signal=INT", NBUF, "curve", "--json", "--from", "keys", "-"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut input = child.stdin.take().unwrap();
    let block = "1\n2\n3\n".repeat(100_000);
    input.write_all(block.as_bytes()).unwrap();
    let status = Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    assert!(status.success());
    // It notices the signal with the next block that it reads; then no process takes the rest.
    while input.write_all(block.as_bytes()).is_ok() {}
    let mut text = String::new();
    child.stdout.take().unwrap().read_to_string(&mut text).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(130));
    let document: Value = serde_json::from_str(&text).unwrap();
    let said = document["warnings"][0].as_str().unwrap();
    assert!(said.contains("reading was interrupted after"), "{said}");
    assert_eq!(document["curves"][0]["distinct_pages"], 3);
}

#[test]
fn the_parameter_of_a_policy_is_part_of_its_name() {
    let place = Place::new();
    keys(&place);
    let policies = "lru,v1:busy=0,v1:busy=1,v1:busy=200,v1,v1:busy=0";
    let arguments = ["--from", "keys", "--policy", policies, "--size", "110,150", "keys.txt"];
    let document = document(&place, &arguments);
    let curves = document["curves"].as_array().unwrap();
    let names: Vec<_> = curves.iter().map(|curve| curve["policy"].as_str().unwrap()).collect();
    assert_eq!(names, ["lru", "v1:busy=0", "v1:busy=1", "v1:busy=200", "v1"]);
    let points = |at: usize| curves[at]["points"].clone();
    assert_eq!((points(0), points(2)), (points(1), points(4)));
    assert_ne!(points(0), points(3));
}

#[test]
fn parts_add_up_to_the_whole_at_every_size_that_is_shown() {
    let place = Place::new();
    blocks(&place);
    for sizes in [&[][..], &["--size", "7,33,111,150,199"]] {
        for part in [["--by", "file"], ["--by", "op"], ["--window", "700"]] {
            let document = document(&place, &[sizes, &part, &["blocks.log"]].concat());
            let curve = &document["curves"][0];
            let name = if part[0] == "--by" { "groups" } else { "windows" };
            let parts = curve[name].as_array().unwrap();
            assert!(parts.len() > 1, "{part:?}");
            for (at, point) in curve["points"].as_array().unwrap().iter().enumerate() {
                let sum = |what: &str| -> u64 {
                    parts.iter().map(|part| part["points"][at][what].as_u64().unwrap()).sum()
                };
                let whole = |what: &str| point[what].as_u64().unwrap();
                assert_eq!(sum("accesses"), whole("accesses"), "{part:?} {sizes:?}");
                assert_eq!(sum("misses"), whole("misses"), "{part:?} {sizes:?} {}", point["pages"]);
            }
        }
    }
}

/// Below the largest object LRU over objects is not counted, so its floor may be anywhere below.
#[test]
fn a_floor_that_was_not_searched_is_a_floor_at_most_in_short_too() {
    let place = Place::new();
    fs::write(place.path("one.csv"), "key,size\n".to_owned() + &"a,100\n".repeat(50)).unwrap();
    let asked =
        ["--knee", "--unit", "object", "--policy", "lru", "--from", "csv:key=key,size=size"];
    let output = curve(&place, &[&asked[..], &["one.csv"]].concat());
    let said = String::from_utf8(output.stdout).unwrap();
    assert!(said.starts_with("lru: floor ") && said.contains(" or less, knee 100B"), "{said}");
}

#[test]
fn what_could_not_be_read_is_told_beside_short_answers_too() {
    let place = Place::new();
    fs::write(place.path("cut.txt"), "1 2\n".repeat(9) + &"3\n".repeat(100)).unwrap();
    for short in ["--knee", "--csv", "--json"] {
        let output = curve(&place, &["-q", "--from", "lirs", short, "cut.txt"]);
        let (out, said) = (String::from_utf8_lossy(&output.stdout), stderr(&output));
        let told = if short == "--json" { out.to_string() } else { said.clone() };
        assert!(told.contains("left out: cut.txt, line 1"), "{short}: {out}{said}");
    }
}

#[test]
fn where_a_packed_trace_breaks_off_is_told_beside_the_line_that_is_cut() {
    let place = Place::new();
    let bad = "1 2\n".repeat(300);
    fs::write(place.path("bad.txt"), bad + &keys(&place)).unwrap();
    for (pack, file) in [("gzip", "bad.txt.gz"), ("xz", "bad.txt.xz")] {
        let mut command = Command::new(pack);
        if command.args(["-k", "bad.txt"]).current_dir(place.path(".")).status().is_err() {
            continue;
        }
        let packed = fs::read(place.path(file)).unwrap();
        fs::write(place.path("cut.txt"), &packed[..packed.len() / 2]).unwrap();
        let output = curve(&place, &["-q", "--from", "lirs", "--knee", "cut.txt"]);
        let said = stderr(&output);
        assert!(said.contains("data end here or are damaged"), "{pack}: {said}");
        assert!(output.status.success() && !output.stdout.is_empty(), "{output:?}");
    }
}
