//! Logs that real servers wrote give the counts that the servers, or a second way to count, give.
//!
//! `tests/logs` has what nginx 1.22, Redis 7.0.15 and memcached 1.6.18 logged for small clients of each, with IPv6, sockets,
//! binary keys, escapes and requests that are none. `redis.commandstats` is of the same run. `rocksdb.csv` is of `db_bench` 7.8.3:
//! its binary trace was written as text in the way of `block_cache_tracer.cc`, because no package has the analyzer.

use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};

use nbuf::trace::request::{Op, Request};
use nbuf::units::{Bound, Bytes};
use nbuf::workload::format::{Batch, Place, Problems};
use nbuf::workload::source::{Options, Source, SourceError};

const LOGS: [(&str, &str); 5] = [
    ("nginx.log", "nginx"),
    ("nginx-cache.log", "nginx"),
    ("redis.monitor", "redisMonitor"),
    ("memcached.watch", "memcachedWatch"),
    ("rocksdb.csv", "rocksdb"),
];

fn log(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/logs").join(name)
}

fn text(name: &str) -> String {
    String::from_utf8(fs::read(log(name)).unwrap()).unwrap()
}

fn read(path: &Path, options: &Options) -> Result<(String, Vec<Request>, Problems), SourceError> {
    let mut source = Source::open(&[path.to_owned()], options)?;
    let (mut batch, mut all) = (Batch::default(), Vec::new());
    while source.next(&mut batch)? {
        all.extend_from_slice(&batch.requests);
    }
    Ok((source.detected().format.name.to_owned(), all, source.problems().clone()))
}

fn sample(name: &str) -> (Vec<Request>, Problems) {
    let (_, all, problems) = read(&log(name), &Options::default()).unwrap();
    assert_eq!(problems.count, 0, "{name}: {:?}", problems.kept);
    (all, problems)
}

fn count(requests: &[Request], op: Op) -> usize {
    requests.iter().filter(|request| request.op == op).count()
}

/// A log that was rotated is the log: what its first part said of a key holds in the second. Packed parts too.
#[test]
fn parts_of_a_log_are_read_as_the_whole() {
    let folder = tempfile::tempdir().unwrap();
    let pack = |bytes: &[u8], is_packed: bool| {
        if !is_packed {
            return bytes.to_vec();
        }
        zstd::encode_all(bytes, 1).unwrap()
    };
    for (name, _) in LOGS {
        let (whole, _) = sample(name);
        let text = text(name);
        let ends: Vec<usize> = text.match_indices('\n').map(|(at, _)| at + 1).collect();
        for (at, is_packed) in [(1, false), (2, true), (3, false)] {
            let (first, second) = text.split_at(ends[ends.len() * at / 4]);
            let parts = [first, second].map(str::as_bytes);
            let paths: Vec<PathBuf> = (0..2)
                .map(|part| {
                    let path = folder.path().join(format!("{name}.{part}"));
                    fs::write(&path, pack(parts[part], is_packed)).unwrap();
                    path
                })
                .collect();
            let mut source = Source::open(&paths, &Options::default()).unwrap();
            let (mut batch, mut all) = (Batch::default(), Vec::new());
            while source.next(&mut batch).unwrap() {
                all.extend_from_slice(&batch.requests);
            }
            assert!(all == whole, "{name} in parts at {at} of 4");
        }
    }
}

#[test]
fn each_log_is_taken_for_what_it_is() {
    for (name, format) in LOGS {
        let (found, all, _) = read(&log(name), &Options::default()).unwrap();
        assert_eq!((found.as_str(), all.is_empty()), (format, false), "{name}");
    }
}

/// Method, target, status and bytes of a line, by its quotation marks and blanks.
fn columns(line: &str) -> Option<(&str, &str, &str, u64)> {
    let mut parts = line.split('"');
    let request: Vec<&str> = parts.nth(1)?.split(' ').collect();
    let mut numbers = parts.next()?.split_whitespace();
    let (status, bytes) = (numbers.next()?, numbers.next()?.parse().ok()?);
    let &[method, target, _] = &request[..] else { return None };
    (["GET", "HEAD"].contains(&method) && ["200", "206", "301", "302", "304"].contains(&status))
        .then_some((method, target, status, bytes))
}

#[test]
fn nginx_reads_are_the_lines_that_a_cache_may_keep() {
    let (requests, problems) = sample("nginx.log");
    let text = text("nginx.log");
    let kept: Vec<_> = text.lines().filter_map(columns).collect();
    assert_eq!((requests.len(), count(&requests, Op::Read)), (kept.len(), kept.len()));
    assert_eq!(problems.unused, (text.lines().count() - kept.len()) as u64);
    let keys: HashSet<u64> = requests.iter().map(|request| request.offset).collect();
    let targets: HashSet<&str> = kept.iter().map(|(_, target, ..)| *target).collect();
    assert_eq!(keys.len(), targets.len());
    for (request, (method, _, status, bytes)) in requests.iter().zip(kept) {
        if method == "GET" && status == "200" {
            assert_eq!(request.length_bytes, bytes);
        }
    }
    assert!(requests.is_sorted_by_key(|request| request.time_ns));
}

/// `apache-vhost.log` is of Apache 2.4 with `%v:%p` before the line, `%O` for the size and `body=%B` behind it.
#[test]
fn apache_has_a_host_before_the_line_and_may_count_headers() {
    let (requests, problems) = sample("apache-vhost.log");
    let log = text("apache-vhost.log");
    let kept: Vec<&str> = log.lines().filter(|line| columns(line).is_some()).collect();
    assert_eq!((requests.len(), problems.unused), (kept.len(), 1));
    let keys: HashSet<u64> = requests.iter().map(|request| request.offset).collect();
    let names: HashSet<(&str, &str)> = kept
        .iter()
        .map(|line| (line.split(' ').next().unwrap(), columns(line).unwrap().1))
        .collect();
    assert_eq!(keys.len(), names.len());
    // Both hosts have `/a`, of 6 and of 3000 bytes.
    let sizes: Vec<u64> = requests.iter().map(|request| request.length_bytes).collect();
    assert_eq!(sizes, [6, 2, 6, 6, 6, 6, 3000, 3000, 3000, 3000, 3000, 3000]);
    assert_eq!(problems.headers_counted, 0);

    // Without the bytes of the bodies the headers count, and two HEADs and two answers 304 show it.
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("headers.log");
    let cut = |line: &str| line[..line.find(" body=").unwrap()].to_owned() + "\n";
    fs::write(&path, log.lines().map(cut).collect::<String>()).unwrap();
    let mut source = Source::open(std::slice::from_ref(&path), &Options::default()).unwrap();
    let mut batch = Batch::default();
    while source.next(&mut batch).unwrap() {}
    assert_eq!((source.problems().count, source.problems().headers_counted), (0, 4));
}

/// `nginx-raw.log` is of nginx 1.22 with `escape=none`, for clients that sent control characters and quotation marks.
#[test]
fn nginx_without_escapes_is_read() {
    let (requests, problems) = sample("nginx-raw.log");
    let keys: HashSet<u64> = requests.iter().map(|request| request.offset).collect();
    // Three plain requests and a HEAD, and two with marks in their targets.
    assert_eq!((requests.len(), keys.len(), problems.unused), (6, 4, 0));
    let sizes: Vec<u64> = requests.iter().map(|request| request.length_bytes).collect();
    assert_eq!(sizes, [6, 2, 6, 6, 6, 6]);
}

#[test]
fn nginx_missed_once_for_each_key_that_is_read() {
    let (requests, problems) = sample("nginx-cache.log");
    let text = text("nginx-cache.log");
    let is_asked = |line: &&str| line.contains("=HIT") || line.contains("=MISS");
    let asked: Vec<&str> =
        text.lines().filter(is_asked).filter(|line| columns(line).is_some()).collect();
    assert_eq!(requests.len(), asked.len());
    assert_eq!(problems.unused, (text.lines().count() - asked.len()) as u64);
    // nginx's own key has no host.
    let missed = asked.iter().filter(|line| line.contains("=MISS")).count();
    let targets: HashSet<&str> = asked.iter().map(|line| columns(line).unwrap().1).collect();
    assert_eq!(missed, targets.len());
    let milliseconds = |request: &&Request| request.time_ns % 1_000_000_000 > 0;
    assert!(requests.iter().filter(milliseconds).count() > requests.len() / 2);
}

#[test]
fn redis_counted_the_same_commands() {
    let (requests, problems) = sample("redis.monitor");
    let stats = text("redis.commandstats");
    let calls = |names: &[&str]| -> usize {
        let call = |line: &str| -> Option<usize> {
            let (name, calls) = line.strip_prefix("cmdstat_")?.split_once(":calls=")?;
            names.contains(&name).then(|| calls.parse().unwrap())
        };
        stats.lines().filter_map(call).sum()
    };
    // The client gave three keys to MGET, two to MSET and to UNLINK.
    let reads = calls(&["get", "hget"]) + 3 * calls(&["mget"]);
    assert_eq!(count(&requests, Op::Read), reads);
    let writes = calls(&["set", "setex", "hset", "append", "incr"]) + 2 * calls(&["mset"]);
    // EXPIRE and PERSIST do nothing to a key that is not there, or has no end.
    let (asked, changed) = (calls(&["expire", "persist"]), count(&requests, Op::Write) - writes);
    assert!(changed <= asked, "{changed}");
    assert_eq!(count(&requests, Op::Discard), calls(&["del"]) + 2 * calls(&["unlink"]));
    // The INFO that asked for these counts is in the log, and not yet in them.
    let others = calls(&["select", "eval", "ttl"]) + 1;
    assert_eq!(problems.unused, (others + asked - changed) as u64);
}

#[test]
fn memcached_counted_the_same_lookups_and_stores() {
    let (requests, _) = sample("memcached.watch");
    // `stats` of the same run: cmd_get 42, cmd_set 8.
    assert_eq!(count(&requests, Op::Read), 42);
    let log = text("memcached.watch");
    let attempts = log.lines().filter(|line| line.contains("type=item_store"));
    let (stored, refused): (Vec<&str>, Vec<&str>) =
        attempts.partition(|line| line.contains("status=stored"));
    assert_eq!((count(&requests, Op::Write), stored.len() + refused.len()), (stored.len(), 8));
}

/// memcached writes how many lines a slow watcher missed.
#[test]
fn each_line_that_memcached_skipped_is_missing() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("skipped");
    let (want, _) = sample("memcached.watch");
    for (count, missing) in [("1", 1), ("250", 250), ("0", 1), ("many", 1)] {
        fs::write(&path, text("memcached.watch") + &format!("skipped={count}\n")).unwrap();
        let (_, all, problems) = read(&path, &Options::default()).unwrap();
        assert_eq!((all == want, problems.count), (true, missing), "{count}");
    }
}

#[test]
fn rocksdb_looked_up_the_same_blocks() {
    let (requests, problems) = sample("rocksdb.csv");
    let log = text("rocksdb.csv");
    let column = |number: usize| log.lines().map(move |line| line.split(',').nth(number).unwrap());
    let keys: Vec<u64> = requests.iter().map(|request| request.offset).collect();
    assert_eq!(keys, column(1).map(|block| block.parse().unwrap()).collect::<Vec<u64>>());
    let bytes: u64 = requests.iter().map(|request| request.length_bytes).sum();
    let want: u64 = column(3).map(|size| size.parse::<u64>().unwrap()).sum();
    assert_eq!(bytes, want);
    assert_eq!((count(&requests, Op::Read), problems.unused), (requests.len(), 0));
}

#[test]
fn bad_lines_are_named_and_change_nothing_else() {
    let directory = tempfile::tempdir().unwrap();
    for (name, format) in LOGS {
        let (want, _) = sample(name);
        let lines = text(name);
        let (first, rest) = lines.split_at(lines.find('\n').unwrap() + 1);
        let cut = lines.lines().last().unwrap();
        let cut = &cut[..cut.len() / 4];
        // A line of a megabyte, one of bytes that are no text, an empty one, and one that is cut.
        let input = [
            first.as_bytes(),
            &vec![b'x'; 1 << 20],
            b"\n\xff\xfe\0\x01\n\r\n",
            rest.as_bytes(),
            cut.as_bytes(),
        ]
        .concat();
        let path = directory.path().join(name);
        fs::write(&path, &input).unwrap();
        let options = Options { format: Some(format.parse().unwrap()), ..Options::default() };
        let (_, all, problems) = read(&path, &options).unwrap();
        assert_eq!(all, want, "{name}");
        let places: Vec<Place> = problems.kept.iter().map(|problem| problem.place).collect();
        let last = lines.lines().count() as u64 + 4;
        assert_eq!(places, [2, 3, last].map(Place::Line), "{name}");
        assert!(problems.kept.iter().all(|problem| problem.text.len() < 500));
        // Nothing at all is an error.
        fs::write(&path, b"").unwrap();
        assert!(matches!(read(&path, &options), Err(SourceError::Empty { .. })));
    }
}

#[test]
fn a_long_value_has_its_length_and_the_log_is_recognised_by_its_front() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("long");
    let value = "\\xff".repeat(1 << 18) + &"v".repeat(1 << 20);
    fs::write(&path, format!("1795638601.000001 [0 [::1]:5] \"SET\" \"k\" \"{value}\"\n")).unwrap();
    let (format, all, problems) = read(&path, &Options::default()).unwrap();
    assert_eq!((format.as_str(), problems.count), ("redisMonitor", 0));
    assert_eq!(all[0].length_bytes, (1 << 18) + (1 << 20) + 1);
}

#[test]
fn a_flush_deletes_every_key_once_however_many_there_are() {
    use std::fmt::Write as _;
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("flush");
    let mut log = String::new();
    let mut line = |at: u32, rest: &str| {
        writeln!(log, "1795638601.{at:06} [{} 127.0.0.1:5] {rest}", at % 2).unwrap();
    };
    for at in 0..20_000 {
        line(at, &format!("\"SET\" \"key:{at}\" \"v\""));
    }
    line(20_000, "\"FLUSHDB\"");
    line(20_001, "\"GET\" \"key:1\"");
    line(20_002, "\"FLUSHALL\"");
    line(20_004, "\"FLUSHALL\"");
    fs::write(&path, &log).unwrap();
    let (_, all, _) = read(&path, &Options::default()).unwrap();
    let ops = |range: std::ops::Range<usize>| -> HashSet<Op> {
        all[range].iter().map(|request| request.op).collect()
    };
    assert_eq!(ops(0..20_000), HashSet::from([Op::Write]));
    assert_eq!(ops(20_000..30_000), HashSet::from([Op::Discard]));
    assert_eq!(all[30_000].op, Op::Read);
    assert_eq!((ops(30_001..40_001), all.len()), (HashSet::from([Op::Discard]), 40_001));
    let deleted: HashSet<u64> = all[20_000..30_000].iter().map(|request| request.offset).collect();
    let written: HashSet<u64> =
        all[..20_000].iter().step_by(2).map(|request| request.offset).collect();
    assert!(deleted == written);

    // What the log said of its keys is within the memory that is allowed.
    let memory = Bound { allowed: Bytes(1 << 18), remedy: "allow more" };
    let refused = read(&path, &Options { memory, ..Options::default() });
    assert!(refused.is_err_and(|error| error.to_string().contains("names and sizes")));
}
