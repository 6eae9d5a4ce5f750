//! One assembly in Debian's SIMH and in ours, on the same images: the same requests for buffers, the
//! same hits, the same a.out, and as many sleeps that began after the event they were for.
//!
//! `NBUF_UNIX_IMAGES=DIR cargo test -p nbuf-pdp11 --test beside_simh`, where `simh` is installed. SIMH is
//! as it comes: breakpoints at the kernel's allocator and at its WAIT write registers and core to its
//! output, and the guest's console is a socket. They cost wall time, by which SIMH's clock goes, so
//! that what ends a sleep is not comparable; whether it began too late is.

#[path = "../../nbuf-core/tests/support/mod.rs"]
mod support;

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs::{self, File};
use std::io::{ErrorKind, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use nbuf_pdp11::timing::Timing;
use nbuf_pdp11::unix::files;
use nbuf_pdp11::unix::guest::{Guest, Images, Slot};
use nbuf_pdp11::unix::kernel::{BufferRequest, symbol};
use nbuf_pdp11::unix::stages;
use support::skip;

const SIMH: &str = "/usr/bin/pdp11";
/// Bits of a buffer's status: wants to be read or is; cannot be a victim.
const READING: u16 = 0o022_000;
const BUSY: u16 = 0o173_000;
/// Output of a guest that idles: SIMH writes by blocks, so that what came before is out by then.
const IDLE_BYTES: u64 = 8192;
/// Looks at a file that grows, a hundredth of a second each.
const LOOKS: u32 = 6000;

/// Where the kernel is looked at.
struct Places {
    bufaloc: u16,
    dskrd: u16,
    wslot: u16,
    wait: u16,
    cdev: u16,
    /// Status words of the buffers.
    buffers: Vec<u16>,
}

impl Places {
    fn new(installed: &Images, buffers: u16) -> Self {
        let object = stages::kernel_object(installed, buffers).unwrap();
        let at = |name| symbol(&object, name).unwrap();
        let mut guest = Guest::boot(installed.clone(), Slot::Cold, &Timing::instant());
        guest.log_in().unwrap();
        let list = (0..buffers).map(|n| at("bufp") + 2 * n);
        Self {
            bufaloc: at("bufaloc"),
            dskrd: at("dskrd"),
            wslot: at("wslot"),
            wait: at("idle") + 0o20,
            cdev: at("cdev"),
            buffers: list.map(|at| guest.machine.memory.word(at).unwrap()).collect(),
        }
    }

    fn breakpoints(&self) -> String {
        let mut text = format!("break {:o};ex r0;ex r5", self.wait);
        for at in &self.buffers {
            let _ = write!(text, ";ex {at:o}");
        }
        let _ = writeln!(text, ";cont\nbreak {:o};ex r1;ex {:o};cont", self.bufaloc, self.cdev);
        let _ = writeln!(text, "break {:o};cont", self.bufaloc + 0o44);
        text
    }

    /// Whether a sleep begins after its event: by who sleeps, for which buffer, and their states.
    fn is_late(&self, seen: &BTreeMap<String, u16>) -> bool {
        let link = seen["R0"];
        let status = |at: u16| seen.get(&format!("{at:o}")).copied();
        if link == self.dskrd + 0o36 || link == self.wslot + 0o22 {
            return status(seen["R5"]).is_some_and(|status| status & READING == 0);
        }
        link == self.bufaloc + 0o70
            && self.buffers.iter().any(|&at| status(at).is_some_and(|status| status & BUSY == 0))
    }
}

/// What SIMH did.
struct Theirs {
    requests: Vec<(u8, u16)>,
    hits: usize,
    late: u64,
    object: Vec<u8>,
}

fn octal(text: &str) -> u16 {
    u16::from_str_radix(text.trim(), 8).unwrap_or(0)
}

/// What SIMH wrote at its breakpoints.
fn read_events(output: &str, places: &Places, theirs: &mut Theirs) {
    let mut seen = BTreeMap::new();
    let mut at = 0;
    for line in output.lines() {
        if let Some(rest) = line.strip_prefix("Breakpoint, PC: ") {
            seen.clear();
            at = octal(rest.get(..6).unwrap_or_default());
            theirs.hits += usize::from(at == places.bufaloc + 0o44);
        } else if let Some((name, value)) = line.split_once(":\t") {
            seen.insert(name.to_owned(), octal(value));
            if at == places.wait && seen.len() == 2 + places.buffers.len() {
                theirs.late += u64::from(places.is_late(&seen));
            } else if at == places.bufaloc && seen.len() == 2 {
                let device = seen[&format!("{:o}", places.cdev)].to_le_bytes()[0];
                theirs.requests.push((device, seen["R1"]));
            }
        }
    }
}

/// A SIMH that runs, and the line to its console; it ends with this.
struct Simh {
    child: Child,
    console: TcpStream,
    output: PathBuf,
}

impl Drop for Simh {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Simh {
    fn start(folder: &Path, images: &Images, places: &Places) -> Self {
        fs::write(folder.join("rf0.dsk"), &images.drum).unwrap();
        fs::write(folder.join("rk0.dsk"), &images.pack).unwrap();
        let free = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = free.local_addr().unwrap().port();
        drop(free);
        let mut commands =
            "d sr 1\nset cpu 11/20\nset cpu 32K\nset rk0 enabled\nattach rk0 rk0.dsk\n\
            set rf 2p\nset rf enabled\nattach rf rf0.dsk\nset hk disabled\nset rha disabled\n\
            set tm disabled\nset rx disabled\nset rl disabled\nset tq disabled\nset ke enabled\n\
            set dci enabled\nset dci lines=8\n"
                .to_owned();
        // The kernel goes into core as the bootstrap would have put it there.
        let kernel = images.drum[988 * 512..].chunks_exact(2).take(6144);
        for (address, word) in (0..).step_by(2).zip(kernel) {
            let word = u16::from_le_bytes([word[0], word[1]]);
            let _ = writeln!(commands, "d {address:o} {word:o}");
        }
        let _ = write!(commands, "set console telnet={port}\n{}go 400\n", places.breakpoints());
        fs::write(folder.join("commands"), commands).unwrap();
        let output = folder.join("output");
        let child = Command::new(SIMH)
            .arg("commands")
            .current_dir(folder)
            .stdin(Stdio::null())
            .stdout(File::create(&output).unwrap())
            .spawn()
            .unwrap();
        let console = (0..LOOKS).find_map(|_| {
            std::thread::sleep(Duration::from_millis(10));
            TcpStream::connect(("127.0.0.1", port)).ok()
        });
        let console = console.unwrap();
        console.set_read_timeout(Some(Duration::from_mins(1))).unwrap();
        Self { child, console, output }
    }

    /// Types a line, if any, and waits for what ends the answer.
    fn ask(&mut self, line: &str, end: &str) {
        if !line.is_empty() {
            self.console.write_all(format!("{line}\r").as_bytes()).unwrap();
        }
        let mut heard = String::new();
        while heard.len() < line.len() + end.len() || !heard.ends_with(end) {
            let mut byte = [0];
            match self.console.read(&mut byte) {
                Ok(1) => heard.extend(byte.is_ascii().then(|| char::from(byte[0]))),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                other => panic!("{other:?}; SIMH said {heard:?}"),
            }
        }
    }

    /// Lets it idle for `IDLE_BYTES` of output, so that its earlier work is in the output. Returns
    /// the length of the output.
    fn idle(&self) -> usize {
        let length = || fs::metadata(&self.output).unwrap().len();
        let until = length() + IDLE_BYTES;
        let grown = (0..LOOKS).any(|_| {
            std::thread::sleep(Duration::from_millis(10));
            length() >= until
        });
        assert!(grown, "SIMH stands still");
        usize::try_from(length()).unwrap()
    }
}

fn assemble_there(images: &Images, places: &Places) -> Theirs {
    let folder = tempfile::tempdir().unwrap();
    let mut simh = Simh::start(folder.path(), images, places);
    simh.ask("", "login: ");
    for line in ["root", "date", "chdir /usr/sys"] {
        simh.ask(line, "# ");
    }
    let from = simh.idle();
    simh.ask("as u*.s", "# ");
    let to = simh.idle();
    drop(simh);
    let output = fs::read(folder.path().join("output")).unwrap();
    let mut theirs = Theirs { requests: Vec::new(), hits: 0, late: 0, object: Vec::new() };
    read_events(&String::from_utf8_lossy(&output[from..to]), places, &mut theirs);
    let pack = fs::read(folder.path().join("rk0.dsk")).unwrap();
    theirs.object = files::read(&pack, "sys/a.out").unwrap();
    theirs
}

#[test]
fn an_assembly_does_what_it_does_in_simh() {
    let Some(folder) = std::env::var_os("NBUF_UNIX_IMAGES").map(PathBuf::from) else {
        return skip("an assembly beside SIMH: NBUF_UNIX_IMAGES names no folder with images");
    };
    if !Path::new(SIMH).exists() {
        return skip("an assembly beside SIMH: Debian's package simh is absent");
    }
    let read = |name: &str| fs::read(folder.join(name)).unwrap();
    let images = Images { drum: read("rf0.dsk"), pack: read("rk0.dsk") };
    let built = stages::build(&images, 0..=7, &mut |_| ()).unwrap();
    for n in [1, 2, 6] {
        let installed = stages::install(&built, n).unwrap();
        let ours = stages::assemble(&installed, n, &Timing::simh(250, 10)).unwrap();
        let theirs = assemble_there(&installed, &Places::new(&installed, n));
        let block = |request: &BufferRequest| (request.device, request.block);
        let requests: Vec<_> = ours.requests.iter().map(block).collect();
        assert_eq!(requests.len(), theirs.requests.len(), "nbuf {n}: requests");
        assert!(requests == theirs.requests, "nbuf {n}: other requests");
        assert!(ours.object == theirs.object, "nbuf {n}: another a.out");
        let hits = ours.requests.iter().filter(|request| request.is_hit).count();
        // Which buffer is busy when one is wanted depends a little on the phases; with one it cannot.
        let off = if n == 1 { 0 } else { 3 };
        assert!(hits.abs_diff(theirs.hits) <= off, "nbuf {n}: {hits} hits, SIMH {}", theirs.hits);
        let late = (ours.late_sleeps, theirs.late);
        assert!(late.0.abs_diff(late.1) <= 5 + late.1 / 10, "nbuf {n}: late sleeps {late:?}");
        assert!(ours.lost_wakeups <= ours.late_sleeps);
    }
}
