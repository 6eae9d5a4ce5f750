//! The live display of `nbuf watch` on a terminal of our own: keys, a saved page, and what it leaves.

#[expect(dead_code, reason = "each test file uses a part of it")]
mod support;

use std::fs::{self, File};
use std::io::{Read, Write};
use std::num::NonZero;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;

use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{LocalModes, Winsize, tcgetattr, tcsetwinsize};
use support::{Need, Place, requires, requires_shared, until, with_word};

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
    watch_with(place, arguments, far, false)
}

fn watch_with(place: &Place, arguments: &[&str], far: &File, is_plain: bool) -> Child {
    let end = || Stdio::from(far.try_clone().unwrap());
    let mut nbuf: Command = place.nbuf([&["watch"], arguments].concat());
    nbuf.env("TERM", "xterm-256color").env_remove("NO_COLOR");
    if is_plain {
        nbuf.env("NO_COLOR", "1");
    }
    nbuf.stdin(end()).stdout(end()).stderr(end()).spawn().unwrap()
}

/// The program on a terminal.
struct Display {
    child: Child,
    keys: File,
    /// The far side, which keeps its settings.
    terminal: OwnedFd,
    written: Arc<Mutex<Vec<u8>>>,
    reader: JoinHandle<()>,
    /// Rows and columns.
    size: (u16, u16),
}

impl Display {
    fn start(place: &Place, arguments: &[&str], size: [u16; 2]) -> Self {
        let (near, far) = terminal(size);
        let child = watch(place, arguments, &far);
        Self::of(child, (near, far), size)
    }

    fn of(child: Child, (near, far): (OwnedFd, File), [columns, rows]: [u16; 2]) -> Self {
        let written = Arc::new(Mutex::new(Vec::new()));
        let mut reader = File::from(near.try_clone().unwrap());
        let into = Arc::clone(&written);
        let reader = std::thread::spawn(move || {
            let mut bytes = [0; 4096];
            while let Ok(count @ 1..) = reader.read(&mut bytes) {
                into.lock().unwrap().extend(&bytes[..count]);
            }
        });
        let size = (rows, columns);
        Self { child, keys: near.into(), terminal: far.into(), written, reader, size }
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
        // With the last one gone that can write to it, all that was written is read.
        let Self { terminal, reader, written, .. } = self;
        drop(terminal);
        reader.join().unwrap();
        String::from_utf8_lossy(&written.lock().unwrap()).into_owned()
    }
}

#[test]
fn keys_turn_pages_save_one_and_end_it() {
    let Some(_lock) = requires_shared(&[Need::Tracepoints]) else { return };
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

/// A server of a page that was read once from its disc and twice from its cache.
fn server(place: &Place) -> Child {
    fs::write(place.path("disc.img"), [7; 8192]).unwrap();
    let arguments = ["serve", "--disc", "file:disc.img", "--size", "64KiB", "--socket", "socket"];
    let mut child = place.nbuf(arguments).stdout(Stdio::piped()).spawn().unwrap();
    let mut first = [0; 8];
    child.stdout.as_mut().unwrap().read_exact(&mut first).unwrap();
    assert_eq!(&first, b"serving ");
    until("it listens", || place.path("socket").exists());
    let mut client = UnixStream::connect(place.path("socket")).unwrap();
    client.read_exact(&mut [0; 18]).unwrap();
    client.write_all(b"\0\0\0\x03IHAVEOPT\0\0\0\x01\0\0\0\0").unwrap();
    client.read_exact(&mut [0; 10]).unwrap();
    for _ in 0..3 {
        let head = [&0x2560_9513_u32.to_be_bytes()[..], &[0; 20], &4096_u32.to_be_bytes()].concat();
        client.write_all(&head).unwrap();
        let mut reply = vec![0; 16 + 4096];
        client.read_exact(&mut reply).unwrap();
        assert!(reply[16..] == [7; 4096]);
    }
    child
}

#[test]
fn a_server_is_displayed_until_it_ends() {
    let place = Place::new();
    let mut server = server(&place);
    let watch = |rest: &[&str]| {
        let arguments = [&["watch", "--server", "socket", "--interval", "100ms"], rest].concat();
        let output = place.nbuf(arguments).output().unwrap();
        (output.status.code(), String::from_utf8([output.stdout, output.stderr].concat()).unwrap())
    };
    let (status, text) = watch(&["--once"]);
    assert!(status == Some(0) && text.contains("66.7 % since the start"), "{text}");
    assert!(text.contains("twice     128 KiB would hit 66.7 %"), "{text}");
    let (_, lines) = watch(&["--count", "2", "--json"]);
    assert_eq!(lines.lines().count(), 2);
    for line in lines.lines() {
        let document: serde_json::Value = serde_json::from_str(line).unwrap();
        assert_eq!((&document["schema"], &document["reads"]), (&"nbuf.serve/1".into(), &3.into()));
    }
    for size in [[80, 24], [200, 60]] {
        let arguments = [&["--server", "socket"], &EVERY[..]].concat();
        let mut display = Display::start(&place, &arguments, size);
        display.until_it_shows("66.7 % since the start");
        display.press("\t\t");
        display.until_it_shows("s3-fifo 128 KiB");
        display.press("\t");
        display.until_it_shows("Places in cache");
        display.press("q");
        display.ends(0);
    }
    let mut display =
        Display::start(&place, &["--server", "socket", "--interval", "100ms"], [80, 24]);
    display.until_it_shows("hit ratio");
    display.press("s");
    display.until_it_shows("saved as nbuf-watch-");
    assert!(place.nbuf(["serve", "drain", "socket"]).status().unwrap().success());
    assert_eq!(server.wait().unwrap().code(), Some(0));
    let said = display.ends(125);
    assert!(said.contains("no server answers at socket"), "{said}");
    let (status, said) = watch(&[]);
    assert!(status == Some(125) && said.contains("no server answers"), "{said}");
}

#[test]
fn a_signal_and_a_control_c_give_the_terminal_back() {
    let Some(_lock) = requires_shared(&[Need::Tracepoints]) else { return };
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
    let Some(_lock) = requires_shared(&[Need::Tracepoints]) else { return };
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

/// Whether a program asked for a colour of letters or ground.
fn has_colour(text: &str) -> bool {
    let mut codes = text.split("\x1b[").skip(1).filter_map(|rest| {
        let (numbers, _) = rest.split_once('m')?;
        numbers.bytes().all(|byte| byte.is_ascii_digit() || byte == b';').then_some(numbers)
    });
    let is_colour = |number: &str| {
        number.parse().is_ok_and(|number: u32| {
            (30..=38).contains(&number) || (40..=48).contains(&number) || number >= 90
        })
    };
    codes.any(|codes| codes.split(';').any(is_colour))
}

#[test]
fn no_color_switches_colours_off() {
    let Some(_lock) = requires_shared(&[Need::Tracepoints]) else { return };
    let place = Place::new();
    for is_plain in [false, true] {
        let size = [80, 24];
        let (near, far) = terminal(size);
        let child = watch_with(&place, &EVERY, &far, is_plain);
        let mut display = Display::of(child, (near, far), size);
        display.until_it_shows("true idle");
        display.press("q");
        let text = display.ends(0);
        assert_eq!(has_colour(&text), !is_plain, "{text:?}");
    }
}

#[test]
fn sigkill_leaves_no_process_and_a_recording_that_can_be_read() {
    let Some(_lock) = requires(&[Need::Tracepoints]) else { return };
    let place = Place::new();
    let name = format!("killed-{}.jsonl", std::process::id());
    let arguments = [&EVERY[..], &["--record", &name]].concat();
    let mut display = Display::start(&place, &arguments, [80, 24]);
    display.until_it_shows("true idle");
    let recorded = || fs::read_to_string(place.path(&name)).unwrap_or_default().lines().count();
    until("two intervals are recorded", || recorded() >= 2);
    display.child.kill().unwrap();
    display.child.wait().unwrap();
    until("nothing is left running", || with_word(&name).is_empty());
    let shown = place.nbuf(["watch", "--replay", &name]).output().unwrap();
    let text = String::from_utf8(shown.stdout).unwrap();
    assert!(shown.status.success() && text.matches("true").count() >= 2, "{text}");
}

#[test]
fn a_small_terminal_shows_the_size_that_is_needed() {
    let Some(_lock) = requires_shared(&[Need::Tracepoints]) else { return };
    let place = Place::new();
    let mut display = Display::start(&place, &EVERY, [40, 10]);
    display.until_it_shows("too small");
    display.press("q");
    display.ends(0);
}

#[test]
fn a_recording_is_displayed_interval_by_interval() {
    let Some(_lock) = requires_shared(&[Need::Tracepoints]) else { return };
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
