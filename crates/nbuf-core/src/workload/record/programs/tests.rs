//! The programs, in the kernel that runs: they load, and record whom they are to.

use std::io::Write;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use super::super::events::SOURCES;
use super::*;
use crate::sys::cgroup::Hierarchies;
use crate::trace::Sampled;

const PAGES: u64 = 64;
const BYTES: usize = 64 << 12;

/// A group below one of ours, gone with this value.
struct Group(PathBuf);

impl Group {
    fn make(below: Option<PathBuf>, name: &str) -> Option<Self> {
        let path = below?.join(format!("test-nbuf-programs-{name}-{}", std::process::id()));
        fs::create_dir(&path).ok()?;
        Some(Self(path))
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        while fs::remove_dir(&self.0).is_err_and(|error| error.raw_os_error() == Some(libc::EBUSY))
        {
            std::thread::yield_now();
        }
    }
}

/// A shell that waits for a line, in a group or not, and reads a file then, page by page, by a process of its own.
fn reader(file: &Path, group: Option<&Path>) -> Child {
    let script = "[ -z \"$1\" ] || echo $$ >\"$1/cgroup.procs\"; echo ready; read go
        dd if=\"$0\" of=/dev/null bs=4096 count=64 2>/dev/null";
    let mut shell = Command::new("sh");
    shell.args(["-c", script]).arg(file).arg(group.unwrap_or_else(|| Path::new("")));
    let mut child = shell.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let mut ready = [0; 6];
    io::Read::read_exact(child.stdout.as_mut().unwrap(), &mut ready).unwrap();
    child
}

/// A file of [`PAGES`], with device and inode as the kernel has them.
fn data() -> (tempfile::NamedTempFile, u32, u64) {
    let mut file = tempfile::NamedTempFile::new_in(env!("CARGO_MANIFEST_DIR")).unwrap();
    file.write_all(&vec![7; BYTES]).unwrap();
    file.as_file().sync_all().unwrap();
    let found = file.as_file().metadata().unwrap();
    let device = libc::major(found.dev()) << 20 | libc::minor(found.dev());
    (file, device, found.ino())
}

fn ends(mut child: Child) {
    child.stdin.take().unwrap().write_all(b"go\n").unwrap();
    assert!(child.wait().unwrap().success());
}

#[test]
fn each_filter_records_all_of_those_inside_and_nothing_of_others() {
    if Programs::probe().is_err() {
        // Without the rights there is nothing to see; `nbuf doctor` says so.
        return;
    }
    let own = Hierarchies::of_this_process();
    let groups = [Group::make(own.unified, "v2"), Group::make(own.memory_v1, "v1")];
    let (file, device, inode) = data();
    for group in groups.iter().flatten().map(Some).chain([None]) {
        let group = group.map(|group| group.0.as_path());
        let (inside, outside) = (reader(file.path(), group), reader(file.path(), None));
        let running = match group {
            Some(group) => Running::group(group.to_owned()),
            None => Running { processes: vec![inside.id()], cgroup: None },
        };
        let mut programs = Programs::open(&SOURCES, &running, 1 << 20, false).unwrap();
        programs.mark(inside.id()).unwrap();
        programs.attach().unwrap();
        let mut reads = |child: Child| {
            ends(child);
            let mut events = Vec::new();
            programs.drain(|event| events.push(event));
            let of_file = |event: &&Event| (event.device, event.inode) == (device, inode);
            let of_file =
                events.iter().filter(of_file).filter(|event| event.kind == Kind::GetPages);
            of_file.map(|event| (event.index, event.extent)).collect::<Vec<_>>()
        };
        assert_eq!(reads(outside), [], "{group:?}");
        let pages: Vec<(u64, u64)> = (0..PAGES).map(|page| (page, page)).collect();
        assert_eq!(reads(inside), pages, "{group:?}");
        programs.stop();
        let (seen, lost) = programs.losses();
        assert!(seen >= PAGES && lost == 0, "{group:?}: {seen} {lost}");
    }
}

#[test]
fn the_kernel_chooses_the_same_pages_as_who_reads_the_trace() {
    if Programs::probe().is_err() {
        return;
    }
    let (file, device, inode) = data();
    let sampled = Sampled { hashes: ALL / 2, accesses: 0 };
    let child = reader(file.path(), None);
    let running = Running { processes: vec![child.id()], cgroup: None };
    let mut programs = Programs::open(&SOURCES, &running, 1 << 20, true).unwrap();
    programs.sample(sampled.hashes);
    programs.mark(child.id()).unwrap();
    programs.attach().unwrap();
    ends(child);
    programs.stop();
    let mut pages = Vec::new();
    programs.drain(|event| {
        if event.kind == Kind::GetPages && (event.device, event.inode) == (device, inode) {
            pages.push(event.index);
        }
    });
    let want: Vec<u64> = (0..PAGES).filter(|&page| sampled.has(device, inode, page)).collect();
    assert_eq!(pages, want);
    let (seen, kept) = programs.seen();
    assert!(seen > kept && programs.losses() == (seen, 0), "{seen} {kept}");
    // The program's own code is read, too.
    assert!((PAGES..PAGES + 1000).contains(&programs.accesses()), "{}", programs.accesses());
}

#[test]
fn a_process_that_executes_from_another_thread_keeps_its_mark() {
    let has_python = Command::new("python3").arg("--version").output();
    if Programs::probe().is_err() || !has_python.is_ok_and(|it| it.status.success()) {
        return;
    }
    let script = "import os, sys, threading
words = ['dd', 'if=' + sys.argv[1], 'of=/dev/null', 'bs=4096', 'count=64']
begun = threading.Event()
def execute():
    begun.set()
    wait.wait()
    os.execvp('dd', words)
wait = threading.Event()
threads = [threading.Thread(target=execute)]
if sys.argv[2] == 'before': threads[0].start(); begun.wait()
print('ready', flush=True)
sys.stdin.readline()
if sys.argv[2] == 'after': threads[0].start()
wait.set()
threads[0].join()";
    // A thread that was there when the process was marked, and one that came later.
    for when in ["before", "after"] {
        let (file, device, inode) = data();
        let mut python = Command::new("python3");
        python.args(["-c", script]).arg(file.path()).arg(when);
        python.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = python.spawn().unwrap();
        let mut ready = [0; 6];
        io::Read::read_exact(child.stdout.as_mut().unwrap(), &mut ready).unwrap();
        let running = Running { processes: vec![child.id()], cgroup: None };
        let mut programs = Programs::open(&SOURCES, &running, 1 << 20, false).unwrap();
        programs.mark(child.id()).unwrap();
        programs.attach().unwrap();
        ends(child);
        programs.stop();
        let mut seen = 0;
        programs.drain(|event| {
            let is_of_file = (event.device, event.inode) == (device, inode);
            seen += u64::from(is_of_file && event.kind == Kind::GetPages);
        });
        assert_eq!(seen, PAGES, "{when}");
    }
}

#[test]
fn what_a_full_ring_has_no_room_for_is_counted() {
    if Programs::probe().is_err() {
        return;
    }
    let mut file = tempfile::NamedTempFile::new_in(env!("CARGO_MANIFEST_DIR")).unwrap();
    file.write_all(&vec![7; BYTES]).unwrap();
    let child = reader(file.path(), None);
    let running = Running { processes: vec![child.id()], cgroup: None };
    // One page has room for fewer than a hundred records.
    let mut programs = Programs::open(&SOURCES, &running, 1, false).unwrap();
    programs.mark(child.id()).unwrap();
    programs.attach().unwrap();
    ends(child);
    programs.stop();
    let mut received = 0;
    programs.drain(|_| received += 1);
    let (seen, lost) = programs.losses();
    assert!(lost > 0 && seen == received + lost, "{seen} {lost} {received}");
}

#[test]
fn a_program_that_fails_the_check_has_the_kernels_reason() {
    let Some(kernel) = Kernel::described().filter(|_| Programs::probe().is_ok()) else { return };
    let mut code = filter::fork(kernel, 0).unwrap();
    code.truncate(3);
    let error = Tracing::load(&code, kernel.fork_kind().unwrap()).unwrap_err().to_string();
    assert!(error.len() > 60, "{error}");
}
