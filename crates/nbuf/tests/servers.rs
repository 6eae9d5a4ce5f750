//! Programs that do more than read: a database server under its own user, daemons, pipelines.

#[expect(dead_code, reason = "each test file uses a part of it")]
mod support;

use std::fs;

use nbuf::trace::CacheEvent;
use support::{Need, Place, bytes, is_alive, requires, skip, with_word};

const PAGE: u64 = 4096;

/// `PATH` with the server's own programs, which some distributions keep apart.
fn path_to_postgres() -> Option<String> {
    let versions = fs::read_dir("/usr/lib/postgresql").into_iter().flatten().flatten();
    let mut folders: Vec<_> = versions.map(|version| version.path().join("bin")).collect();
    folders.sort();
    folders.extend(std::env::split_paths(&std::env::var_os("PATH")?));
    let has = |name: &str| folders.iter().any(|folder| folder.join(name).exists());
    let all = ["initdb", "pg_ctl", "pgbench", "psql"].into_iter().all(has);
    all.then(|| std::env::join_paths(&folders).unwrap().into_string().unwrap())
}

/// Makes a database of 45 MB once, and puts its files back to what they were each time.
const PREPARE: &str = "
become='setpriv --reuid 65534 --regid 65534 --clear-groups'
[ -d base ] || $become sh -ec '
    initdb -D base -A trust -N >initdb.txt
    pg_ctl -D base -w -l log -o \"-k $PWD -h \\\"\\\" -c fsync=off\" start >/dev/null
    pgbench -h $PWD -i -s 3 -q postgres 2>/dev/null
    psql -h $PWD -qc \"vacuum freeze analyze\" postgres
    pg_ctl -D base -w -m fast stop >/dev/null' || exit 1
rm -rf data && cp -a base data && sync -f data
";

/// Starts the server as another user, lets one client ask, stops the server.
fn serve(buffers: &str, load: &str) -> String {
    format!(
        "exec setpriv --reuid 65534 --regid 65534 --clear-groups sh -ec '
    pg_ctl -D data -w -l log -o \"-k $PWD -h \\\"\\\" -c shared_buffers={buffers} \
        -c autovacuum=off -c bgwriter_lru_maxpages=0\" start >/dev/null
    pgbench -h $PWD -n -c 1 --random-seed=1 {load} postgres >/dev/null
    pg_ctl -D data -w -m fast stop >/dev/null'"
    )
}

#[test]
fn a_database_server_is_seen_with_its_writes_and_its_shared_buffers() {
    let needs = [Need::Tracepoints, Need::Nobody, Need::Program("setpriv")];
    let Some(_lock) = requires(&needs) else { return };
    let Some(path) = path_to_postgres() else { return skip("no PostgreSQL server with pgbench") };
    let Some(place) = Place::open_to_all() else { return skip("no disc under /var/tmp") };
    let size = |script: &str, options: &[&str]| {
        let mut nbuf = place.nbuf(["size", "-y", "--json", "--max-time", "900", "--force"]);
        nbuf.args(["--until", "last", "--prepare", PREPARE]).args(options);
        nbuf.args(["--", "sh", "-c", script]).env("PATH", &path);
        let sized = support::Recorded::of(nbuf.output().unwrap(), &place.path("t.parquet"));
        // What a server fills varies from run to run; the limits below say by how much.
        assert!([0, 1, 3, 4].contains(&sized.status), "{sized:?}");
        sized
    };

    let sized = size(&serve("4MB", "-S -t 12000"), &["--verify-at", "75%,50%"]);
    let reads = sized.json();
    let runs = reads["verify"].as_array().unwrap();
    assert!(runs.len() >= 3, "{sized:?}");
    let mut predicted = Vec::new();
    for run in runs {
        assert_eq!(run["exit_status"], 0, "{run:#}");
        let number = |key: &str| run[key].as_f64().unwrap();
        let (low, high) = (number("predicted_fills_low"), number("predicted_fills_high"));
        // A quarter of what such a server touches it touches through mappings: docs/support.md.
        let room = low * 0.5..=high * 1.5;
        assert!(room.contains(&number("measured_fills")), "{run:#}");
        predicted.push(low);
    }
    // Half of the footprint is too little: pages are read again.
    predicted.sort_by(f64::total_cmp);
    assert!(predicted[runs.len() - 1] > 1.1 * predicted[0], "{predicted:?}");
    let busiest = reads["files"][0]["name"].as_str().unwrap();
    let tables = place.path("data/base");
    assert!(busiest.starts_with(tables.to_str().unwrap()), "{busiest}");
    let shared = reads["memory"]["shmem_bytes"].as_u64().unwrap();
    assert!(shared > 2 << 20, "{shared}");

    // Larger buffers are more shared memory, and so much more is to be allowed.
    let sized = size(&serve("16MB", "-t 700"), &["--no-verify", "--trace-out", "t.parquet"]);
    let writes = sized.json();
    let larger = writes["memory"]["shmem_bytes"].as_u64().unwrap();
    assert!(larger > shared + (4 << 20), "{larger} and {shared}");
    let written = writes["traffic"]["written_pages"].as_u64().unwrap();
    assert!(written > 500, "{written}");
    assert!(writes["traffic"]["written_bytes"].as_u64().unwrap() > 500 * PAGE);
    let trace = sized.trace();
    let log = place.path("data/pg_wal");
    let log = log.to_str().unwrap();
    let logged = trace.records.iter().filter(|record| {
        record.op == CacheEvent::Write && trace.files[record.file.0 as usize].starts_with(log)
    });
    // The server writes a transaction before it reports it as done.
    assert!(logged.count() >= 500);
    assert!(trace.facts.capture.lost == 0 && !place.path("data/postmaster.pid").exists());
}

#[test]
fn daemons_pipelines_and_jobs_are_seen_to_their_end() {
    let Some(_lock) = requires(&[Need::Tracepoints, Need::Program("setsid")]) else { return };
    let place = Place::new();
    let names = ["daemon", "first", "last", "job", "late"];
    let files = names.map(|name| place.file(name, 40 * 4096));
    // Forked twice, with a session of its own, and still at work when the command has ended.
    let script = "(setsid sh -c '(sleep 0.3; cat daemon >/dev/null) & exit 0' &)
        cat first | tr a b | cat - last | wc -c >/dev/null
        cat job >/dev/null & (sleep 0.2; cat late >/dev/null) & exit 4";
    let recorded = place.record(script);
    assert_eq!(recorded.status, 4, "{recorded:?}");
    for path in &files {
        assert_eq!(bytes(recorded.trace(), path, CacheEvent::Read), Some(40 * PAGE), "{path:?}");
    }
    assert!(recorded.trace().facts.elapsed_ns > 300_000_000);

    // What is left when the command ends is ended where that is wanted.
    fs::remove_file(place.path("t.parquet")).unwrap();
    let word = format!("86400.{}7", std::process::id());
    let script = format!(
        "(setsid sh -c 'sleep {word} & echo $! >pid' &)
        while [ ! -s pid ]; do sleep 0.01; done; cat first >/dev/null"
    );
    let recorded = place.record_with(&["--until", "main"], &script);
    assert_eq!(recorded.status, 0, "{recorded:?}");
    assert_eq!(bytes(recorded.trace(), &files[1], CacheEvent::Read), Some(40 * PAGE));
    assert!(!is_alive(&fs::read_to_string(place.path("pid")).unwrap()));
    assert!(with_word(&word).is_empty());
}

#[test]
fn files_that_change_while_they_are_used_are_told_apart() {
    let Some(_lock) = requires(&[Need::Tracepoints]) else { return };
    let place = Place::new();
    let total = |trace: &nbuf::trace::Trace, name: &str, op| {
        let start = place.path(name).to_str().unwrap().to_owned();
        let ours = |r: &nbuf::trace::Record| {
            r.op == op && trace.files[r.file.0 as usize].starts_with(&start)
        };
        trace.records.iter().filter(ours).map(|r| u64::from(r.length_bytes)).sum::<u64>()
    };
    // One appends, the other reads what has come since.
    let grows = "exec 3<>grown; for i in 1 2 3 4 5 6 7 8; do
        dd if=/dev/zero bs=4096 count=10 status=none >>grown; cat <&3 >/dev/null; done";
    let recorded = place.record(grows);
    let trace = recorded.trace();
    assert_eq!(total(trace, "grown", CacheEvent::Write), 80 * PAGE);
    assert_eq!(total(trace, "grown", CacheEvent::Read), 80 * PAGE);

    // Truncated and written again, smaller; then another file by the same name. The pause is for nbuf to look at the
    // first one: of a size that it never saw nothing is known.
    place.file("again", 100 * 4096);
    fs::remove_file(place.path("t.parquet")).unwrap();
    let again = "cat again >/dev/null; sleep 0.3; head -c 10000 /dev/zero >again; dd if=again of=/dev/null \
        bs=64k status=none; head -c 40960 /dev/zero >other; mv other again; cat again >/dev/null";
    let recorded = place.record(again);
    let trace = recorded.trace();
    let is_ours = |file: &&String| file.contains("again") || file.contains("other");
    let mut read: Vec<u64> = trace
        .files
        .iter()
        .filter(is_ours)
        .map(|file| bytes(trace, file.as_ref(), CacheEvent::Read).unwrap_or(0))
        .collect();
    read.sort_unstable();
    // The second file has the name that was recorded first, before or after it was renamed. If the
    // first was removed before nbuf looked at it again, only its pages are known.
    let sizes = [10_000_u64, 10_000_u64.next_multiple_of(PAGE)];
    let expected = sizes.map(|size| [40_960, 100 * PAGE + size]);
    assert!(expected.iter().any(|expected| read == expected), "{read:?} of {:?}", trace.files);
}
