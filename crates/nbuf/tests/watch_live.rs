//! The live display of `nbuf watch` on a terminal of our own: keys, a saved page, and what it leaves.

#[expect(dead_code, reason = "each test file uses a part of it")]
mod support;

use std::fs::{self, File};
use std::io::{Read, Write};
use std::num::NonZero;
use std::os::fd::OwnedFd;
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};

use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{LocalModes, Winsize, tcgetattr, tcsetwinsize};
use support::{Need, Place, requires, until};

/// Intervals that come soon.
const EVERY: [&str; 2] = ["--interval", "100ms"];

/// A terminal: where a person is, and where programs are.
fn terminal([columns, rows]: [u16; 2]) -> (OwnedFd, File) {
    let near = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC).unwrap();
    grantpt(&near).unwrap();
    unlockpt(&near).unwrap();
    let name = ptsname(&near, Vec::new()).unwrap().into_string().unwrap();
    let far = File::options().read(true).write(true).open(name).unwrap();
    let size = Winsize { ws_row: rows, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0 };
    tcsetwinsize(&far, size).unwrap();
    (near, far)
}

fn watch(place: &Place, arguments: &[&str], far: &File) -> Child {
    let end = || Stdio::from(far.try_clone().unwrap());
    let mut nbuf: Command = place.nbuf([&["watch"], arguments].concat());
    nbuf.env("TERM", "xterm-256color").env_remove("NO_COLOR");
    nbuf.stdin(end()).stdout(end()).stderr(end()).spawn().unwrap()
}

/// The program on a terminal.
struct Display {
    child: Child,
    keys: File,
    /// The far side, which keeps its settings.
    terminal: OwnedFd,
    written: Arc<Mutex<Vec<u8>>>,
    /// Rows and columns.
    size: (u16, u16),
}

impl Display {
    fn start(place: &Place, arguments: &[&str], [columns, rows]: [u16; 2]) -> Self {
        let (near, far) = terminal([columns, rows]);
        let child = watch(place, arguments, &far);
        let written = Arc::new(Mutex::new(Vec::new()));
        let mut reader = File::from(near.try_clone().unwrap());
        let into = Arc::clone(&written);
        std::thread::spawn(move || {
            let mut bytes = [0; 4096];
            while let Ok(count @ 1..) = reader.read(&mut bytes) {
                into.lock().unwrap().extend(&bytes[..count]);
            }
        });
        Self { child, keys: near.into(), terminal: far.into(), written, size: (rows, columns) }
    }

    fn text(&self) -> String {
        String::from_utf8_lossy(&self.written.lock().unwrap()).into_owned()
    }

    /// What a person sees.
    fn screen(&self) -> String {
        let [rows, columns] = [self.size.0, self.size.1].map(|n| NonZero::new(n).unwrap());
        let mut parser = vt100::Parser::new(rows, columns, 0);
        parser.process(&self.written.lock().unwrap());
        parser.screen().contents()
    }

    fn until_it_shows(&self, words: &str) {
        until(words, || self.screen().contains(words));
    }

    fn press(&mut self, keys: &str) {
        self.keys.write_all(keys.as_bytes()).unwrap();
    }

    /// It ends with this status, and the terminal is as it was.
    fn ends(mut self, status: i32) -> String {
        let ended = self.child.wait().unwrap();
        assert_eq!(ended.code(), Some(status), "{}", self.text());
        until("the main screen is back", || self.text().contains("\x1b[?1049l"));
        until("the cursor is back", || self.text().contains("\x1b[?25h"));
        let modes = tcgetattr(&self.terminal).unwrap().local_modes;
        assert!(modes.contains(LocalModes::ICANON | LocalModes::ECHO), "{modes:?}");
        self.text()
    }
}

#[test]
fn keys_turn_pages_save_one_and_end_it() {
    let Some(_lock) = requires(&[Need::Tracepoints]) else { return };
    let place = Place::new();
    let mut display = Display::start(&place, &EVERY, [80, 24]);
    display.until_it_shows("true idle");
    display.until_it_shows("own cost");
    display.press("\t");
    display.until_it_shows("minor a second");
    display.press("\t");
    display.until_it_shows("evictions a second");
    display.press("?");
    display.until_it_shows("Ctrl-C");
    display.press("x");
    display.press("p");
    display.until_it_shows("paused");
    display.press("s");
    display.until_it_shows("saved as nbuf-watch-");
    display.press("s");
    display.until_it_shows("saved before, as nbuf-watch-");
    display.press("q");
    display.ends(0);
    let saved = |name: &str| name.starts_with("nbuf-watch-2");
    let names = fs::read_dir(place.path(".")).unwrap().map(|entry| entry.unwrap().file_name());
    let pages: Vec<String> =
        names.map(|name| name.into_string().unwrap()).filter(|name| saved(name)).collect();
    assert_eq!(pages.len(), 1, "{pages:?}");
    let page = fs::read_to_string(place.path(&pages[0])).unwrap();
    assert!(page.contains("multiprogramming idle") && page.contains("</html>"), "{page}");
}

#[test]
fn a_signal_and_a_control_c_give_the_terminal_back() {
    let Some(_lock) = requires(&[Need::Tracepoints]) else { return };
    let place = Place::new();
    for key in [None, Some("\x03")] {
        let mut display = Display::start(&place, &EVERY, [200, 60]);
        display.until_it_shows("true idle");
        if let Some(key) = key {
            display.press(key);
        } else {
            let pid = i32::try_from(display.child.id()).unwrap();
            nbuf::internal::sys::process::signal(pid, libc::SIGTERM).unwrap();
        }
        display.ends(0);
    }
}

/// The library that reads keys reads the end of a closed terminal for ever.
#[test]
fn a_terminal_that_closes_ends_it() {
    let Some(_lock) = requires(&[Need::Tracepoints]) else { return };
    let place = Place::new();
    for arguments in [&EVERY[..], &["--interval", "1s"]] {
        let (near, far) = terminal([80, 24]);
        let mut child = watch(&place, arguments, &far);
        drop(far);
        let mut reader = File::from(near);
        let [rows, columns] = [24, 80].map(|n| NonZero::new(n).unwrap());
        let (mut bytes, mut parser) = ([0; 4096], vt100::Parser::new(rows, columns, 0));
        while !parser.screen().contents().contains("true idle") {
            let count = reader.read(&mut bytes).unwrap();
            parser.process(&bytes[..count]);
        }
        drop(reader);
        until("it has ended", || child.try_wait().unwrap().is_some());
    }
}

#[test]
fn a_small_terminal_shows_the_size_that_is_needed() {
    let Some(_lock) = requires(&[Need::Tracepoints]) else { return };
    let place = Place::new();
    let mut display = Display::start(&place, &EVERY, [40, 10]);
    display.until_it_shows("too small");
    display.press("q");
    display.ends(0);
}

#[test]
fn a_recording_is_displayed_interval_by_interval() {
    let Some(_lock) = requires(&[Need::Tracepoints]) else { return };
    let place = Place::new();
    let record = ["watch", "--interval", "100ms", "--count", "3", "--record", "r", "--json"];
    assert!(place.nbuf(record).output().unwrap().status.success());
    let replay = |rest: &[&str]| {
        let mut nbuf = place.nbuf([&["watch", "--replay", "r"], rest].concat());
        nbuf.output().unwrap()
    };
    // Not on a terminal it is text.
    assert_eq!(String::from_utf8(replay(&[]).stdout).unwrap().matches("true").count(), 3);
    let mut display = Display::start(&place, &["--replay", "r"], [80, 24]);
    display.until_it_shows("replay 3 of 3");
    display.press("\x1b[D");
    display.until_it_shows("2 of 3");
    display.press("q");
    display.ends(0);
}
