//! `nbuf unix boot --lines`: several people at once, on pseudo-terminals, with a small program of our own
//! and with First Edition Unix where `NBUF_UNIX_IMAGES` names a folder with its images.

#[path = "../../nbuf-core/tests/support/mod.rs"]
mod support;

use std::fs::{self, File, OpenOptions};
use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::Duration;

use support::skip;

const NBUF: &str = env!("CARGO_BIN_EXE_nbuf");
const LINES: usize = 4;
/// Looks at a terminal, a hundredth of a second each.
const LOOKS: u32 = 6000;

/// A guest with four lines; it ends with this.
struct Machine {
    child: Child,
    names: Vec<String>,
}

impl Machine {
    fn boot(images: &Path) -> Self {
        // A shell starts what runs behind it with SIGINT ignored, and so would be what we start.
        let mut child = Command::new("env")
            .args(["--default-signal=INT,QUIT", NBUF])
            .args(["unix", "boot", "--lines", "4", "--images"])
            .arg(images)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let said = BufReader::new(child.stderr.take().unwrap());
        let names = said.lines().map_while(Result::ok).filter_map(|line| {
            line.split_once(" is ").map(|(_, name)| name.to_owned()).filter(|n| n.starts_with('/'))
        });
        let names = names.take(LINES).collect();
        Self { child, names }
    }

    /// Ends it as Ctrl-C does; the status.
    fn interrupt(mut self) -> Option<i32> {
        let process = i32::try_from(self.child.id()).unwrap();
        nbuf::internal::sys::process::signal(process, 2).unwrap();
        self.child.wait().unwrap().code()
    }
}

impl Drop for Machine {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A user at a terminal.
struct Person {
    terminal: File,
    seen: String,
}

impl Person {
    fn sit_down(name: &str) -> Self {
        let mut options = OpenOptions::new();
        options.read(true).write(true).custom_flags(libc::O_NOCTTY | libc::O_NONBLOCK);
        Self { terminal: options.open(name).unwrap(), seen: String::new() }
    }

    /// Types, and waits for a text behind what was seen before.
    fn ask(&mut self, keys: &str, answer: &str) -> String {
        let from = self.seen.len();
        self.terminal.write_all(keys.as_bytes()).unwrap();
        for _ in 0..LOOKS {
            let mut bytes = [0; 256];
            let length = self.terminal.read(&mut bytes).unwrap_or(0);
            self.seen += &String::from_utf8_lossy(&bytes[..length]);
            if self.seen[from..].contains(answer) {
                return self.seen[from..].to_owned();
            }
            if length == 0 {
                thread::sleep(Duration::from_millis(10));
            }
        }
        panic!("no {answer:?} in {:?}", self.seen);
    }
}

/// Images with a program that echoes each line on itself, once a tick of the clock.
fn echo() -> tempfile::TempDir {
    let mov = |value: u16, address: u16| [0o012_737, value, address];
    let mut program = vec![0o012_706, 0o10_000];
    // The clock interrupts, and its handler is rti.
    for words in [mov(0o20_000, 0o100), mov(0o340, 0o102), mov(2, 0o20_000), mov(0o100, 0o177_546)]
    {
        program.extend(words);
    }
    // 1: wait; for each line: mov $411,*$rcsr; tstb *$rcsr; bpl .+10; mov *$rcbr,*$tcbr; br 1b
    program.push(1);
    for line in [0o174_000_u16, 0o174_010, 0o174_020, 0o174_030] {
        program.extend(mov(0o411, line));
        program.extend([0o105_737, line, 0o100_003, 0o013_737, line + 2, line + 6]);
    }
    program.push(0o000_732);
    let folder = tempfile::tempdir().unwrap();
    let mut drum = vec![0; 988 * 512];
    let words = program.into_iter().flat_map(u16::to_le_bytes);
    for (place, byte) in drum[964 * 512 + 0o400..].iter_mut().zip(words) {
        *place = byte;
    }
    fs::write(folder.path().join("rf0.dsk"), drum).unwrap();
    fs::write(folder.path().join("rk0.dsk"), vec![0; 4864 * 512]).unwrap();
    folder
}

#[test]
fn each_line_has_its_own_terminal_and_is_answered_again() {
    let images = echo();
    let machine = Machine::boot(images.path());
    assert_eq!(machine.names.len(), LINES);
    thread::scope(|scope| {
        for (number, name) in machine.names.iter().enumerate() {
            scope.spawn(move || {
                for time in ["first", "second"] {
                    let text = format!("{time} {number}\r\n@#");
                    let mut person = Person::sit_down(name);
                    assert_eq!(person.ask(&text, "@#"), text, "raw, and of this line alone");
                    drop(person);
                    // A hang-up is seen by the next look at the terminal.
                    thread::sleep(Duration::from_millis(300));
                }
            });
        }
    });
    assert_eq!(machine.interrupt(), Some(130));
}

#[test]
fn four_people_use_unix_at_once_and_see_each_other() {
    let Some(images) = std::env::var_os("NBUF_UNIX_IMAGES").map(PathBuf::from) else {
        return skip("four people on lines of Unix: NBUF_UNIX_IMAGES names no folder with images");
    };
    let machine = Machine::boot(&images);
    let people = [("root", "# "), ("ken", "@ "), ("bin", "@ "), ("sys", "@ ")];
    let all_are_there = std::sync::Barrier::new(LINES);
    thread::scope(|scope| {
        for (at, (name, prompt)) in people.into_iter().enumerate() {
            let (terminal, all_are_there) = (&machine.names[at], &all_are_there);
            scope.spawn(move || {
                let mut person = Person::sit_down(terminal);
                person.ask("", "login: ");
                // One half have a newline key, as the Teletype 37 had, the others a return key.
                let end = if at % 2 == 0 { "\n" } else { "\r" };
                person.ask(&format!("{name}{end}"), prompt);
                all_are_there.wait();
                let who = person.ask(&format!("who{end}"), prompt);
                for (line, (name, _)) in people.iter().enumerate() {
                    assert!(who.contains(&format!("{name:8}tty{line}")), "{name}: {who:?}");
                }
                let date = person.ask(&format!("date{end}"), prompt);
                assert!(date.contains("Fri Jan"), "{date:?}");
                all_are_there.wait();
                if at > 0 {
                    return;
                }
                // The others have hung up: their shells end, and their lines are free.
                let gone = (0..LOOKS / 100).any(|_| {
                    thread::sleep(Duration::from_millis(100));
                    let who = person.ask(&format!("who{end}"), prompt);
                    who.contains("root    tty0") && !who.contains("tty1") && !who.contains("tty3")
                });
                assert!(gone, "{:?}", person.seen);
            });
        }
    });
    let mut next = Person::sit_down(&machine.names[2]);
    next.ask("", "login: ");
    assert_eq!(machine.interrupt(), Some(130));
}
