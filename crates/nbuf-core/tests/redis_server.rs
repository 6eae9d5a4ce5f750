//! What the log of a real Redis gives of its keys is what the server itself has.
//!
//! A server runs random commands, among them many that it refuses, and its MONITOR is read as a trace. Then the last
//! write or deletion of each key in the trace says whether it is there, how large it is and when it ends.

mod support;

use std::collections::HashMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use nbuf::internal::clock::Random;
use nbuf::trace::request::{Op, Request};
use nbuf::workload::format::Batch;
use nbuf::workload::source::{Options, Source};

struct Server(Child);

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

struct Client(BufReader<UnixStream>);

/// What the server answers: a number, a text, or that there is nothing or an error.
#[derive(Debug, PartialEq, Eq)]
enum Answer {
    Number(i64),
    Other,
}

impl Client {
    fn new(socket: &Path) -> Self {
        for _ in 0..500 {
            if let Ok(stream) = UnixStream::connect(socket) {
                return Self(BufReader::new(stream));
            }
            std::thread::sleep(Duration::from_millis(10));
        }
        panic!("no server answers on {}", socket.display());
    }

    fn ask(&mut self, words: &[String]) -> Answer {
        let mut text = format!("*{}\r\n", words.len());
        for word in words {
            let length = word.len().to_string();
            text.extend(["$", &length, "\r\n", word, "\r\n"]);
        }
        self.0.get_mut().write_all(text.as_bytes()).unwrap();
        self.answer()
    }

    fn answer(&mut self) -> Answer {
        let mut line = String::new();
        self.0.read_line(&mut line).unwrap();
        let (kind, rest) = line.trim_end().split_at(1);
        let count = || rest.parse::<i64>().unwrap();
        match kind {
            ":" => return Answer::Number(count()),
            "$" if count() >= 0 => {
                let mut bytes = vec![0; usize::try_from(count()).unwrap() + 2];
                self.0.read_exact(&mut bytes).unwrap();
            }
            "*" => {
                for _ in 0..count() {
                    self.answer();
                }
            }
            _ => {}
        }
        Answer::Other
    }

    fn number(&mut self, text: &str) -> i64 {
        match self.ask(&words(text)) {
            Answer::Number(number) => number,
            Answer::Other => panic!("{text} gives no number"),
        }
    }
}

fn words(text: &str) -> Vec<String> {
    text.split(' ').map(str::to_owned).collect()
}

/// The commands are the same in every run.
const SEED: u64 = 2026;

/// Draws one of them.
fn draw<'a>(of: &[&'a str], random: &mut Random) -> &'a str {
    of[usize::try_from(random.below(of.len() as u64)).unwrap()]
}

/// Texts. One begins as a database might be written before a key.
const TEXTS: [&str; 5] = ["a", "1:a", "b", "7", "c"];
const LISTS: [&str; 3] = ["la", "lb", "lc"];
const SETS: [&str; 3] = ["sa", "sb", "sc"];
const DATABASES: [&str; 3] = ["0", "1", "2"];

/// What may be refused for a list that may be empty is left out: the log cannot say whether it was.
///
/// `K` is a text, `L` a list, `S` a set, `V` a value, `T` a time and `D` a database.
#[rustfmt::skip]
const COMMANDS: &[&str] = &[
    "SET K V", "SET K V EX T", "SET K V PX T", "SET K V NX", "SET K V XX", "SET K V XX KEEPTTL",
    "SET K V NX EX T GET", "SET K V XX EX T", "GETSET K V", "SETNX K V", "SETEX K T V",
    "PSETEX K T V", "MSET K V K V", "MSETNX K V K V", "APPEND K V", "SETRANGE K 3 V",
    "SETRANGE K -1 V", "SETRANGE K 1 ", "GET K", "GETDEL K", "GETEX K", "GETEX K EX T",
    "GETEX K PERSIST", "DEL K", "UNLINK K K", "DEL K", "RENAME K K", "RENAMENX K K", "COPY K K",
    "COPY K K REPLACE", "COPY K K DB D", "COPY K K DB D REPLACE", "MOVE K D", "EXPIRE K T",
    "EXPIRE K -1", "EXPIRE K T NX", "EXPIRE K T GT", "PEXPIRE K T LT", "EXPIRE K T XX", "PERSIST K",
    "EXPIREAT K 1", "EXPIREAT K 2000000000", "SET K V EXAT 1", "SET K V EX abc", "SET K V EX 0",
    "SET K V NX XX", "SET K V EX", "SET K V EX T PX T", "SET K V KEEPTTL EX T", "SET K V NONSENSE",
    "SETEX K 0 V", "MSET K V K", "GETEX K EX 0", "GETEX K EX T PERSIST", "EXPIRE K abc",
    "EXPIRE K T NX GT", "EXPIRE K T SOON", "COPY K K DB x", "MOVE K x", "SETRANGE K x V",
    "LMPOP 0 L LEFT", "ZINTER x S", "LPUSH L V", "RPUSH L V V", "LPUSHX L V", "LPOP L", "RPOP L",
    "LPOP L 9", "LMOVE L L LEFT RIGHT", "RPOPLPUSH L L", "BLPOP L L 0.001", "LMPOP 2 L L LEFT",
    "BLMPOP 0.001 2 L L RIGHT COUNT 9", "DEL L", "RENAME L L", "COPY L L",
    "COPY L L REPLACE", "SORT L ALPHA STORE L", "SORT L ALPHA", "LTRIM L 5 4",
    "SADD S V", "SADD S V V", "SREM S V", "SPOP S", "SMOVE S S V", "SINTERSTORE S S S",
    "SUNIONSTORE S S S", "SDIFFSTORE S S S", "SINTERCARD 2 S S", "DEL S", "COPY S S",
    "SELECT D", "SELECT D", "SELECT D",
];

fn fill(command: &str, random: &mut Random) -> Vec<String> {
    let values = ["x", "yy", "zzzzzz", "a b\n\"\\"];
    let one = |word: &str, random: &mut Random| match word {
        "K" => draw(&TEXTS, random).to_owned(),
        "L" => draw(&LISTS, random).to_owned(),
        "S" => draw(&SETS, random).to_owned(),
        "D" => draw(&DATABASES, random).to_owned(),
        "V" => draw(&values, random).to_owned(),
        // Long enough not to end before the test does.
        "T" => draw(&["2000000", "3000000", "90000000"], random).to_owned(),
        word => word.to_owned(),
    };
    command.split(' ').map(|word| one(word, random)).collect()
}

/// What a trace says of a key.
#[derive(Clone, Copy, Debug, Default)]
struct State {
    is_there: bool,
    bytes: u64,
    end_ns: Option<i64>,
}

impl State {
    fn take(&mut self, request: &Request) {
        match request.op {
            Op::Write => {
                (self.is_there, self.bytes) = (true, request.length_bytes);
                // A lifetime of 68 years takes an earlier one back.
                if let Some(ns) = request.lifetime.ns() {
                    let ns = i64::try_from(ns).unwrap_or(i64::MAX);
                    self.end_ns = (ns < 2_000_000_000_000_000_000).then(|| request.time_ns + ns);
                }
            }
            Op::Discard => *self = Self::default(),
            _ => {}
        }
    }
}

fn read(log: &Path) -> Vec<Request> {
    let mut source = Source::open(&[log.to_owned()], &Options::default()).unwrap();
    let (mut batch, mut all) = (Batch::default(), Vec::new());
    while source.next(&mut batch).unwrap() {
        all.extend_from_slice(&batch.requests);
    }
    assert_eq!(source.detected().format.name, "redisMonitor");
    assert_eq!(source.problems().count, 0, "{:?}", source.problems().kept);
    all
}

/// A server without files, if there is one here.
fn start(folder: &Path, socket: &Path) -> Option<Server> {
    let server = Command::new("redis-server")
        .args(["--port", "0", "--save", "", "--appendonly", "no", "--unixsocket"])
        .arg(socket)
        .current_dir(folder)
        .stdout(Stdio::null())
        .spawn();
    server.ok().map(Server)
}

/// Runs commands, and returns what the server logs of them.
fn run(client: &mut Client, monitor: &mut Client, names: &[&str]) -> String {
    // Each key is named once and deleted: nothing of it is unknown.
    for database in DATABASES {
        client.ask(&words(&format!("SELECT {database}")));
        for name in names {
            client.ask(&words(&format!("SET {name} v")));
            client.ask(&words(&format!("DEL {name}")));
        }
    }
    let mut random = Random::new(SEED);
    for _ in 0..8_000 {
        let command = draw(COMMANDS, &mut random);
        client.ask(&fill(command, &mut random));
    }
    client.ask(&words("ECHO the-end"));
    let (mut log, mut line) = (String::new(), String::new());
    while !line.contains("the-end") {
        line.clear();
        monitor.0.read_line(&mut line).unwrap();
        log += &line;
    }
    log
}

/// Compares a text with what the trace says of it; whether there is one.
fn compare(client: &mut Client, name: &str, state: State, now_ns: i64) -> bool {
    let is_there = client.number(&format!("EXISTS {name}")) == 1;
    assert_eq!(state.is_there, is_there, "{name}: {state:?}");
    if !is_there {
        return false;
    }
    let bytes = client.number(&format!("STRLEN {name}")).unsigned_abs();
    assert_eq!(state.bytes, bytes + name.len() as u64, "{name}: {state:?}");
    let left_ms = client.number(&format!("PTTL {name}"));
    match state.end_ns {
        None => assert_eq!(left_ms, -1, "{name}: {state:?}"),
        Some(end_ns) => {
            let off_ms = (end_ns - now_ns) / 1_000_000 - left_ms;
            assert!(off_ms.abs() < 100_000, "{name}: {state:?}: {off_ms} ms off");
        }
    }
    true
}

#[test]
fn a_log_gives_the_keys_that_the_server_has() {
    let folder = tempfile::tempdir().unwrap();
    let socket = folder.path().join("redis");
    let Some(_server) = start(folder.path(), &socket) else {
        return support::skip("redis-server is not installed");
    };
    let mut client = Client::new(&socket);
    let mut monitor = Client::new(&socket);
    monitor.ask(&words("MONITOR"));
    let names: Vec<&str> = TEXTS.iter().chain(&LISTS).chain(&SETS).copied().collect();
    let path = folder.path().join("log");
    std::fs::write(&path, run(&mut client, &mut monitor, &names)).unwrap();
    let requests = read(&path);

    let mut numbers: Vec<u64> = Vec::new();
    for request in requests.iter().filter(|request| request.op == Op::Write) {
        if !numbers.contains(&request.offset) {
            numbers.push(request.offset);
        }
    }
    assert_eq!(
        numbers.len(),
        names.len() * DATABASES.len(),
        "each key of each database is another"
    );
    let mut states: HashMap<u64, State> = HashMap::new();
    for request in &requests {
        states.entry(request.offset).or_default().take(request);
    }

    let now_ns = requests.last().unwrap().time_ns;
    let (mut there, mut numbers) = (0, numbers.into_iter());
    for database in DATABASES {
        client.ask(&words(&format!("SELECT {database}")));
        for name in &names {
            let state = states[&numbers.next().unwrap()];
            if TEXTS.contains(name) {
                there += u32::from(compare(&mut client, name, state, now_ns));
                continue;
            }
            // What takes parts away may have taken the last one: the log does not say so.
            let is_there = client.number(&format!("EXISTS {name}")) == 1;
            assert!(state.is_there || !is_there, "{name} of database {database}: {state:?}");
        }
    }
    assert!(there > 0, "the commands leave something");
}
