//! Tests of all formats at once: examples, cut anywhere, changed anywhere, and random bytes.

mod examples;
pub(super) mod lines;

use std::fmt::Write;

use proptest::prelude::*;

use self::examples::Example;
use super::*;
use crate::trace::request::{Request, Unit};

/// The format and its parameters by name.
fn named(name: &str) -> (&'static Format, Parameters) {
    let parameters: Parameters = name.parse().unwrap();
    (find(&parameters.format).unwrap(), parameters)
}

/// A parser for an input, if it begins as the format does.
fn parser(name: &str, input: &[u8]) -> Option<Made> {
    let (format, parameters) = named(name);
    format.make()?(&parameters, Head { bytes: input, is_whole: true }).ok()
}

/// All requests of an input that comes in pieces which end at the given places.
fn parse(name: &str, input: &[u8], cuts: &[usize]) -> Option<(Vec<Request>, Batch)> {
    let mut parser = parser(name, input)?.parser;
    let (mut all, mut out) = (Vec::new(), Batch::default());
    let mut start = 0;
    for &end in cuts.iter().chain([&input.len()]) {
        loop {
            let taken = parser.parse(&input[start..end], end == input.len(), &mut out);
            assert!(start + taken <= end);
            start += taken;
            let was_full = out.is_full();
            all.append(&mut out.requests);
            if !was_full {
                break;
            }
            // A small input may stand for any number of requests; they come in batches.
            if all.len() > 1 << 20 {
                return Some((all, out));
            }
        }
    }
    assert_eq!(start, input.len(), "{name} leaves bytes behind");
    Some((all, out))
}

/// As the examples are written.
fn show(requests: &[Request], objects: &[String]) -> String {
    let mut lines = String::new();
    for request in requests {
        let Request { time_ns, offset, length_bytes, object, task, lifetime, cost, op, .. } =
            request;
        let object = objects.get(*object as usize).map_or("-", String::as_str);
        write!(lines, "{time_ns} {object} {op:?} {offset}+{length_bytes} {task}").unwrap();
        if let Some(ns) = lifetime.ns() {
            write!(lines, " lives {}", ns / 1_000_000).unwrap();
        }
        if cost.value() > 0.0 {
            write!(lines, " costs {}", cost.value()).unwrap();
        }
        lines.push('\n');
    }
    lines
}

/// With hashes for `#TEXT`, keys of a space for `#@SPACE TEXT`, and what `N times` stands for.
fn expand(want: &str) -> String {
    let mut lines = String::new();
    for line in want.lines() {
        let (times, line) = line.split_once(" times ").unwrap_or(("1", line));
        let line = match line.split_once('#') {
            None => line.to_owned(),
            Some((before, rest)) => {
                let (text, after) = rest.split_once('+').unwrap();
                let of_space = text.strip_prefix('@').and_then(|text| text.split_once(' '));
                let key = match of_space {
                    Some((space, text)) => hash::key_in(space.parse().unwrap(), text.as_bytes()),
                    None => hash::hash(text.as_bytes()),
                };
                format!("{before}{key}+{after}")
            }
        };
        lines.push_str(&format!("{line}\n").repeat(times.parse().unwrap()));
    }
    lines
}

#[test]
fn every_format_reads_its_example() {
    let examples = examples::all();
    for Example { format, input, want } in &examples {
        let (requests, out) = parse(format, input, &[]).unwrap();
        assert_eq!(show(&requests, out.objects.names()), expand(want), "{format}");
        assert_eq!(out.problems.count, 0, "{format}: {:?}", out.problems.kept);
        let has_names =
            show(&requests, out.objects.names()).lines().all(|line| !line.contains(" - "));
        let unit = parser(format, input).unwrap().unit;
        assert!(has_names || unit == Unit::Keys || ["arc", "vscsi"].contains(format), "{format}");
    }
    for format in FORMATS {
        let is_there = examples.iter().any(|example| named(example.format).0.name == format.name);
        assert!(is_there || format.name == "native", "{} has no example", format.name);
    }
}

#[test]
fn every_example_is_taken_for_what_it_is() {
    for Example { format, input, .. } in examples::all() {
        let head = Head { bytes: &input, is_whole: true };
        let found = guess(FORMATS, head, "").map(|guess| guess.format.name);
        let (row, parameters) = named(format);
        let has_marks = (row.looks)(head) > Likeness::No;
        if row.name == "csv" && !parameters.pairs.is_empty() {
            continue;
        }
        let is_array = row.name.ends_with("le") || row.name.ends_with("be");
        assert_eq!(has_marks, !is_array, "{format}");
        if has_marks {
            assert_eq!(found, Some(row.name), "{format}");
        }
    }
}

#[test]
fn where_an_input_is_cut_changes_nothing() {
    for Example { format, input, .. } in examples::all() {
        let whole = parse(format, &input, &[]).unwrap();
        for at in 0..input.len() {
            let cut = parse(format, &input, &[at]).unwrap();
            assert_eq!(cut.0, whole.0, "{format} cut at {at}");
            assert_eq!(cut.1.problems, whole.1.problems, "{format} cut at {at}");
            assert_eq!(cut.1.objects.names(), whole.1.objects.names());
        }
        let all: Vec<usize> = (0..input.len()).collect();
        assert_eq!(parse(format, &input, &all).unwrap().0, whole.0, "{format} byte by byte");
    }
}

#[test]
fn what_ends_too_early_is_told_unless_a_line_ends_there() {
    for Example { format, input, .. } in examples::all() {
        let whole = parse(format, &input, &[]).unwrap().0;
        for end in 1..input.len() {
            let Some((requests, out)) = parse(format, &input[..end], &[]) else {
                continue;
            };
            assert!(requests.len() <= whole.len(), "{format} up to {end}");
            let is_binary = input.contains(&0);
            let same = requests.iter().zip(&whole).filter(|(cut, whole)| cut == whole).count();
            assert!(same + 2 >= requests.len(), "{format} up to {end}");
            if is_binary && requests.len() < whole.len() && out.problems.count == 0 {
                // Then it ends between two records.
                let next = parse(format, &input[..end - 1], &[]);
                assert!(
                    next.is_none_or(|(_, out)| out.problems.count == 1),
                    "{format} up to {end}"
                );
            }
        }
    }
}

#[test]
fn bad_records_are_left_out_and_told() {
    let cases = [
        ("msr", "128166372003061629,hm,1,Trim,1,1,1\n", "expected Read or Write"),
        ("msr", "1,hm,1,Read,1,1,1\n", "expected a time after 1970"),
        ("alibaba", "1,R,18446744073709551615,1,1\n", "expected a range that 64 bits can address"),
        ("tencent", "1,36028797018963968,1,0,1\n", "expected a range that 64 bits can address"),
        ("tencent", "1,1,1,0,1,1\n", "expected the end of the line"),
        ("spc", "0,1,1,w\n", "expected a time in seconds"),
        ("arc", "1 1 0\n", "expected the number of the request"),
        ("lirs", "-1\n", "expected a block number, found `-1`"),
        ("twitter", "0,k,1,1,1,touch,0\n", "expected get, set, delete"),
        ("blkparse", "sda read\n", "expected a device such as 8,0"),
        ("fio", "fio version 2 iolog\n/a seek 0 1\n", "expected read, write, trim"),
        ("strace", "1 read(3\n", "expected CALL(ARGUMENTS) = RESULT"),
        ("perf", "a 1 [0] 1.0: filemap:mm_filemap_fault: dev=1:1 ino=x ofs=0\n", "expected ino="),
        ("csv:key=1,op=2", "5,fly\n", "expected read, write, delete"),
        ("csv:key=3", "5,fly,4\n5,5\n", "expected a key, found `5,5`"),
    ];
    for (format, input, want) in cases {
        let (requests, out) = parse(format, input.as_bytes(), &[]).unwrap();
        assert!(requests.len() <= 1, "{format}");
        assert_eq!(out.problems.count, 1, "{format} {input}");
        let problem = &out.problems.kept[0];
        assert!(problem.text.starts_with(want), "{format}: {}", problem.text);
        assert_eq!(problem.place, Place::Line(input.lines().count() as u64), "{format}");
    }
}

#[test]
fn a_batch_is_full_when_it_is_full() {
    let input = format!("key,op,size,op_count,key_size\n1,GET,1,{},1\n2,GET,1,1,1\n", 10_000);
    let mut parser = parser("metaKV", input.as_bytes()).unwrap().parser;
    let (mut out, mut at, mut counts) = (Batch::default(), 0, Vec::new());
    for _ in 0..4 {
        at += parser.parse(&input.as_bytes()[at..], true, &mut out);
        counts.push(out.requests.len());
        out.requests.clear();
    }
    assert_eq!(counts, [4096, 4096, 1809, 0]);
    assert_eq!(at, input.len());
}

#[test]
fn columns_that_do_not_exist_are_named() {
    let make = |name: &str, input: &str| {
        let (format, parameters) = named(name);
        let head = Head { bytes: input.as_bytes(), is_whole: true };
        format.make().unwrap()(&parameters, head).err().map(|error| error.to_string())
    };
    let cases = [
        ("csv:key=lba", "there is no column `lba`: the columns are time, lbn"),
        ("csv:key=3", "there is no column `3`: the columns are time, lbn"),
        ("csv:size=2", "`csv` needs either key=COLUMN or offset=COLUMN; there are time, lbn"),
        (
            "csv:key=lbn,size=lbn",
            "`size` cannot be `lbn`: write a column that no other parameter names",
        ),
        ("csv:key=lbn,time-unit=h", "`time-unit` cannot be `h`: write s, ms, us, ns"),
        ("csv:kee=lbn", "`csv` has no parameter `kee`: it takes key, offset"),
    ];
    for (name, want) in cases {
        let error = make(name, "time,lbn\n1,2\n").unwrap();
        assert!(error.starts_with(want), "{error}");
    }
}

/// An example with some of its bytes changed.
fn changed() -> impl Strategy<Value = (&'static str, Vec<u8>)> {
    let count = examples::all().len();
    let changes = proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..6);
    (0..count, changes).prop_map(|(number, changes)| {
        let Example { format, mut input, .. } = examples::all().swap_remove(number);
        for (at, byte) in changes {
            let at = at.index(input.len());
            input[at] = byte;
        }
        (format, input)
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn any_bytes_are_read_or_told(input in proptest::collection::vec(any::<u8>(), 0..400), at in 0_usize..400) {
        for format in FORMATS {
            let cut = [at.min(input.len())];
            let whole = parse(format.name, &input, &[]);
            let pieces = parse(format.name, &input, &cut);
            prop_assert_eq!(whole.map(|(all, _)| all), pieces.map(|(all, _)| all), "{}", format.name);
            (format.looks)(Head { bytes: &input, is_whole: true });
        }
    }

    #[test]
    fn changed_examples_are_read_or_told((format, input) in changed(), at in any::<prop::sample::Index>()) {
        let whole = parse(format, &input, &[]);
        let pieces = parse(format, &input, &[at.index(input.len())]);
        let told = |parsed: Option<(Vec<Request>, Batch)>| {
            parsed.map(|(all, out)| (all, out.problems, out.objects.names().to_vec()))
        };
        prop_assert_eq!(told(whole), told(pieces), "{}", format);
        for row in FORMATS {
            (row.looks)(Head { bytes: &input, is_whole: true });
        }
    }
}
