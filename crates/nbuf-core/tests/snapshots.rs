//! Snapshots that real stores write have what the stores answer of their keys: Redis' RDB files, memcached's metadump.

mod support;

use std::fs::File;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use nbuf::trace::request::{Op, Request};
use nbuf::workload::format::key_of_text;
use nbuf::workload::format::snapshot::{Join, Joined, Lengths, Snapshot};

struct Server(Child);

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// A server without files, if there is one here.
fn start(program: &str, arguments: &[&str], folder: &Path) -> Option<Server> {
    let mut command = Command::new(program);
    command.args(arguments).arg(folder.join("socket")).current_dir(folder);
    command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().ok().map(Server)
}

struct Client(BufReader<UnixStream>);

impl Client {
    fn new(folder: &Path) -> Self {
        for _ in 0..500 {
            if let Ok(stream) = UnixStream::connect(folder.join("socket")) {
                return Self(BufReader::new(stream));
            }
            std::thread::sleep(Duration::from_millis(10));
        }
        panic!("no server answers in {}", folder.display());
    }

    fn line(&mut self) -> String {
        let mut line = String::new();
        self.0.read_line(&mut line).unwrap();
        line.trim_end().to_owned()
    }

    /// The answer of one line, or the second line of a text.
    fn ask(&mut self, command: &str) -> String {
        self.0.get_mut().write_all(format!("{command}\r\n").as_bytes()).unwrap();
        let line = self.line();
        assert!(!line.starts_with('-'), "{command}: {line}");
        if line.starts_with('$') { self.line() } else { line }
    }

    fn number(&mut self, command: &str) -> i64 {
        self.ask(command).trim_start_matches(':').parse().unwrap()
    }
}

/// The bytes and the milliseconds to live that a snapshot has of each name.
fn held(join: &mut Join, names: &[String]) -> Vec<(u64, Option<u64>)> {
    let request = |name: &String| Request::new(Op::Read, key_of_text(name.as_bytes()), 0);
    let mut requests: Vec<Request> = names.iter().map(request).collect();
    join.join(&mut requests, false);
    let lifetime = |one: &Request| one.lifetime.ns().map(|ns| ns / 1_000_000);
    requests.iter().map(|one| (one.length_bytes, lifetime(one))).collect()
}

/// Names of all kinds: texts, numbers, and one that is packed.
fn names() -> Vec<String> {
    let short = (0..300).map(|n| format!("user:{n}"));
    let numbers = ["7", "-7", "007", "300", "70000", "5000000000"].map(str::to_owned);
    short.chain(numbers).chain(["key:".repeat(30), "a%b".to_owned()]).collect()
}

#[test]
fn a_file_of_redis_has_what_the_server_has() {
    let folder = tempfile::tempdir().unwrap();
    let arguments = ["--port", "0", "--save", "", "--appendonly", "no", "--unixsocket"];
    let Some(_server) = start("redis-server", &arguments, folder.path()) else {
        return support::skip("redis-server is not installed");
    };
    let mut client = Client::new(folder.path());
    let names = names();
    for (at, name) in names.iter().enumerate() {
        let value = match at % 4 {
            0 => (at * 12_347).to_string(),
            1 => format!("-{at}"),
            2 => "ab".repeat(at),
            _ => format!("v{at}"),
        };
        let ends = if at.is_multiple_of(3) { "EX 5000" } else { "" };
        // An empty value would be no argument.
        client.ask(&format!("SET {name} \"{value}\" {ends}"));
    }
    // Values of other types stand between the texts, small ones in blocks and large ones as tables.
    for n in 0..700 {
        client.ask(&format!("RPUSH list element{n}"));
        client.ask(&format!("SADD numbers {n}"));
        client.ask(&format!("SADD set member{n}"));
        client.ask(&format!("HSET hash field{n} value{n}"));
        client.ask(&format!("ZADD sorted {n}.5 member{n}"));
        client.ask(&format!("XADD stream * field{n} value{n}"));
    }
    for small in ["RPUSH l a b", "SADD i 1 2", "SADD s a b", "HSET h f v", "ZADD z 1 a"] {
        client.ask(small);
    }
    client.ask("XGROUP CREATE stream group 0");
    client.ask("XGROUP CREATECONSUMER stream group consumer");
    client.ask("SELECT 9");
    client.ask("SET user:1 other");
    client.ask("SELECT 0");
    client.ask("SAVE");

    let file = BufReader::new(File::open(folder.path().join("dump.rdb")).unwrap());
    let snapshot = Snapshot::read(file, &mut |_| true).unwrap();
    assert_eq!(snapshot.broken(), None);
    let there = client.number("DBSIZE") + 1;
    assert_eq!(snapshot.keys(), u64::try_from(there).unwrap());
    let mut join = Join::new(snapshot, Lengths::Values);
    for (name, (bytes, left_ms)) in names.iter().zip(held(&mut join, &names)) {
        let want = client.number(&format!("STRLEN {name}"));
        assert_eq!(bytes, want.unsigned_abs(), "{name}");
        let want_ms = client.number(&format!("PTTL {name}"));
        match left_ms {
            None => assert_eq!(want_ms, -1, "{name}"),
            Some(left_ms) => assert!(want_ms.unsigned_abs().abs_diff(left_ms) < 600_000, "{name}"),
        }
    }
    // 700 of `element0` to `element699`, without what is around them.
    let list: u64 = (0..700).map(|n| format!("element{n}").len() as u64).sum();
    let others = ["list", "set", "hash", "absent"].map(str::to_owned);
    let bytes: Vec<u64> = held(&mut join, &others).iter().map(|held| held.0).collect();
    assert!(
        (list..2 * list).contains(&bytes[0]),
        "blocks have a header for each element: {bytes:?}"
    );
    let pairs: u64 = (0..700).map(|n| format!("field{n}value{n}").len() as u64).sum();
    let members: u64 = (0..700).map(|n| format!("member{n}").len() as u64).sum();
    assert_eq!(bytes[1..], [members, pairs, 0]);
    let lifetimes = names.len().div_ceil(3) as u64;
    let keys = names.len() as u64 + 3;
    let want = Joined { keys, lifetimes, missing_keys: 1, unsized_requests: 1 };
    assert_eq!(join.joined(), want);
}

#[test]
fn a_dump_of_memcached_has_what_was_stored() {
    let folder = tempfile::tempdir().unwrap();
    let Some(_server) = start("memcached", &["-u", "root", "-s"], folder.path()) else {
        return support::skip("memcached is not installed");
    };
    let mut client = Client::new(folder.path());
    let names = names();
    for (at, name) in names.iter().enumerate() {
        let (value, ends) = ("v".repeat(at * 31), if at.is_multiple_of(3) { 5000 } else { 0 });
        let stored = client.ask(&format!("set {name} 0 {ends} {}\r\n{value}", value.len()));
        assert_eq!(stored, "STORED", "{name}");
    }
    let mut dump = client.ask("lru_crawler metadump all") + "\n";
    while !dump.ends_with("END\n") {
        dump += &(client.line() + "\n");
    }
    let snapshot = Snapshot::read(dump.as_bytes(), &mut |_| true).unwrap();
    assert_eq!((snapshot.broken(), snapshot.keys()), (None, names.len() as u64));
    let mut join = Join::new(snapshot, Lengths::KeysAndValues);
    for (at, (bytes, left_ms)) in held(&mut join, &names).into_iter().enumerate() {
        assert_eq!(bytes, (names[at].len() + at * 31) as u64, "{}", names[at]);
        match left_ms {
            None => assert!(!at.is_multiple_of(3), "{}", names[at]),
            Some(left_ms) => assert!(left_ms.abs_diff(5_000_000) < 10_000, "{}", names[at]),
        }
    }
}
