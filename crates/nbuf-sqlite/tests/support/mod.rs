//! Sessions of the program `sqlite3`, with the VFS or without.

use std::fs::OpenOptions;
use std::io::{BufRead, BufReader, PipeReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};

/// Says that a test does not run and why; the caller returns. Where `NBUF_SKIP_LOG` names a file,
/// a line is appended to it, so that skips can be counted.
#[expect(clippy::print_stderr, reason = "a skip is said aloud")]
pub(crate) fn skip(reason: &str) {
    eprintln!("SKIP (counted): {reason}");
    let Some(log) = std::env::var_os("NBUF_SKIP_LOG") else {
        return;
    };
    let mut log = OpenOptions::new().create(true).append(true).open(log).unwrap();
    log.write_all(format!("{reason}\n").as_bytes()).unwrap();
}

/// The extension that cargo has just built.
pub(crate) fn library() -> PathBuf {
    let own = std::env::current_exe().unwrap();
    own.parent().unwrap().join("libnbuf_sqlite.so")
}

/// Whether `sqlite3` is there and loads extensions.
pub(crate) fn has_sqlite() -> bool {
    let load = format!(".load {}", library().display());
    let output = Command::new("sqlite3").args(["-batch", ":memory:", &load]).output();
    let works = output.is_ok_and(|output| output.status.success() && output.stderr.is_empty());
    if !works {
        skip("there is no sqlite3 that loads extensions: apt install sqlite3");
    }
    works
}

/// The name of a database through the cache, with these parameters.
pub(crate) fn through(path: &Path, parameters: &str) -> String {
    format!("file:{}?vfs=nbuf{parameters}", path.display())
}

/// The name of a database without it.
pub(crate) fn plain(path: &Path) -> String {
    format!("file:{}?vfs=unix", path.display())
}

/// A program `sqlite3` that runs.
pub(crate) struct Session {
    child: Child,
    input: ChildStdin,
    output: BufReader<PipeReader>,
}

impl Session {
    /// Starts one with an open database.
    pub(crate) fn open(name: &str) -> Self {
        let mut session = Self::start(&mut Command::new("sqlite3"));
        let answer = session.ask(&format!(".load {}\n.open '{name}'", library().display()));
        assert_eq!(answer, "", "{name}");
        session
    }

    pub(crate) fn start(command: &mut Command) -> Self {
        let (reader, writer) = std::io::pipe().unwrap();
        let mut child = command
            .args(["-batch", ":memory:"])
            .stdin(Stdio::piped())
            .stdout(writer.try_clone().unwrap())
            .stderr(writer)
            .spawn()
            .unwrap();
        let input = child.stdin.take().unwrap();
        Self { child, input, output: BufReader::new(reader) }
    }

    /// Starts to do something.
    pub(crate) fn send(&mut self, sql: &str) {
        writeln!(self.input, "{sql}").unwrap();
    }

    /// Does something and gives what is printed, errors too.
    pub(crate) fn ask(&mut self, sql: &str) -> String {
        self.send(&format!("{sql}\n.print END-OF-ANSWER"));
        let mut answer = String::new();
        loop {
            let mut line = String::new();
            assert!(self.output.read_line(&mut line).unwrap() > 0, "sqlite3 ended: {answer}");
            if line == "END-OF-ANSWER\n" {
                return answer.trim_end().to_owned();
            }
            answer.push_str(&line);
        }
    }

    /// A figure of `PRAGMA nbuf_stats`.
    pub(crate) fn figure(&mut self, name: &str) -> u64 {
        let all = self.ask("PRAGMA nbuf_stats;");
        let at = all.find(&format!("\"{name}\":")).unwrap_or_else(|| panic!("{name}: {all}"));
        let digits = &all[at + name.len() + 3..];
        digits.split([',', '}']).next().unwrap().parse().unwrap()
    }
}

impl Drop for Session {
    /// Ends it without a chance to clean up.
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// What a fresh process answers.
pub(crate) fn once(name: &str, sql: &str) -> String {
    Session::open(name).ask(sql)
}
