//! Text that other programs hold in memory is charged to them; a program in a root of its own needs it.

#[expect(dead_code, reason = "each test file uses a part of it")]
mod support;

use std::fmt::Write as _;
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use serde_json::Value;
use support::{Need, Place, requires_shared};

const MIB: u64 = 1 << 20;
/// Reads the whole table six times, which sqlite3's own cache does not hold.
const QUERY: &str = "with recursive n(k) as (select 1 union all select k + 1 from n where k < 6) \
    select (select sum(length(v) + k) from t) from n;";

/// sqlite3 after a query, with its pages in use until this is dropped.
struct Holder(Child);

impl Holder {
    fn start(program: &Path, database: &Path) -> Self {
        let mut child = Command::new(program)
            .arg(database)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        writeln!(child.stdin.as_mut().unwrap(), "{QUERY}").unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
        assert!(line.trim().parse::<u64>().is_ok(), "{line}");
        Self(child)
    }
}

impl Drop for Holder {
    fn drop(&mut self) {
        // It ends when its input does.
        drop(self.0.stdin.take());
        self.0.wait().unwrap();
    }
}

/// The files that a program is linked with, its interpreter among them.
fn libraries(program: &Path) -> Vec<PathBuf> {
    let output = Command::new("ldd").arg(program).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let words = text.split_whitespace().filter(|word| word.starts_with('/'));
    words.map(PathBuf::from).collect()
}

/// A script that puts copies of a program and its libraries over them, as an image has its own.
fn covered(program: &Path, copies: &Path) -> String {
    fs::create_dir(copies).unwrap();
    let mut script = String::new();
    for (number, file) in libraries(program).into_iter().chain([program.into()]).enumerate() {
        let copy = copies.join(number.to_string());
        fs::copy(&file, &copy).unwrap();
        let file = fs::canonicalize(file).unwrap();
        writeln!(script, "mount --bind {} {}", copy.display(), file.display()).unwrap();
    }
    script
}

fn program(name: &str) -> PathBuf {
    let path = std::env::var_os("PATH").unwrap();
    let mut files = std::env::split_paths(&path).map(|folder| folder.join(name));
    files.find(|path| path.exists()).unwrap()
}

#[test]
fn shared_text_counts_as_it_would_in_a_private_mount_namespace() {
    let needs = [Need::Tracepoints, Need::Program("sqlite3"), Need::Program("unshare")];
    let Some(_lock) = requires_shared(&needs) else { return };
    let place = Place::new();
    let (program, database) = (program("sqlite3"), place.path("database"));
    let table = "create table t (i integer primary key, v blob); with recursive n(i) as (select 1 \
        union all select i + 1 from n where i < 12000) insert into t select i, randomblob(2000) from n;";
    assert!(Command::new(&program).arg(&database).arg(table).status().unwrap().success());
    let size = |cover: &str| {
        // The recommendation of the model alone: runs near a cliff would move it.
        let mut nbuf = place.nbuf(["size", "-y", "--json", "--verify-at", "200%", "--"]);
        nbuf.arg(&program).arg(&database).arg(QUERY);
        let script = format!("set -e\n{cover}exec \"$@\"");
        let mut unshare = Command::new("unshare");
        unshare.args(["--mount", "sh", "-c", &script, "sh"]);
        let output = unshare.arg(nbuf.get_program()).args(nbuf.get_args()).output().unwrap();
        let wrong = String::from_utf8_lossy(&output.stderr).into_owned();
        let report: Value = serde_json::from_slice(&output.stdout).expect(&wrong);
        let of = |pointer: &str| report.pointer(pointer).and_then(Value::as_u64);
        let limit = of("/recommend/limit_bytes").expect(&wrong);
        (limit, of("/memory/shared_text_bytes").unwrap())
    };
    let (alone, alone_text) = size(&covered(&program, &place.path("copies")));
    let holder = Holder::start(&program, &database);
    let (limit, text) = size("");
    drop(holder);
    assert!(text > alone_text + MIB, "{text} {alone_text}");
    assert!(limit.abs_diff(alone) <= (alone / 20).max(2 * MIB), "{limit} {alone}");
}
