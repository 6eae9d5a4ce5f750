//! A service that reads a file by a known pattern, and a group for it.

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use super::support::until;

/// Reads or touches pages of a file at random, each as often as any other: a warm LRU cache of a share of the
/// file hits that share of the accesses. `late` makes a thread and a process for it after a second.
const SERVICE: &str = "
import mmap, os, random, sys, threading, time
path, how, when = sys.argv[1:]
f = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
os.posix_fadvise(f, 0, 0, os.POSIX_FADV_RANDOM)
n = os.fstat(f).st_size // 4096
more = []
m = mmap.mmap(f, 0, prot=mmap.PROT_READ)
m.madvise(mmap.MADV_RANDOM)
for page in range(n): os.pread(f, 4096, page * 4096)
if how == 'mapped':
    for page in range(n): m[page * 4096]
def work(seed):
    r = random.Random(seed)
    while True:
        for _ in range({'mapped': 2, 'read': 20}.get(how, 40)):
            page = int(n * r.random() ** 3) if how != 'read' and how != 'mapped' else r.randrange(n)
            if how == 'mapped': m[page * 4096]
            else: os.pread(f, 4096, page * 4096)
        if how == 'grows' and os.path.exists(path + '.grow') and len(more) < 1200:
            more.append(b'x' * (1 << 16))
        time.sleep(0.005)
print('ready', flush=True)
if when == 'late':
    time.sleep(1.5)
    threading.Thread(target=work, args=(2,), daemon=True).start()
    if os.fork() == 0: work(3)
work(1)
";

/// A service that runs, until it is dropped.
pub(crate) struct Service(Child);

impl Service {
    pub(crate) fn start(path: &Path, how: &str, when: &str) -> Self {
        let mut python = Command::new("setsid");
        python.args(["python3", "-c", SERVICE]).arg(path).args([how, when]);
        let mut child = python.stdout(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        assert_eq!(line, "ready\n");
        Self(child)
    }

    /// The same in this group of version 1, which has charge of its cache.
    pub(crate) fn start_in(group: &Path, path: &Path) -> Self {
        Self::start_how(group, path, "read")
    }

    /// The same in this way. `skewed` reads some pages more often than others. `grows` does that, too, and takes more
    /// memory from when there is a file with this end of its name.
    pub(crate) fn start_how(group: &Path, path: &Path, how: &str) -> Self {
        let script = "echo $$ >$0/cgroup.procs && exec setsid python3 -c \"$@\"";
        let mut shell = Command::new("sh");
        shell.args(["-c", script]).arg(group).arg(SERVICE).arg(path).args([how, "now"]);
        let mut child = shell.stdout(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        assert_eq!(line, "ready\n");
        Self(child)
    }

    pub(crate) fn pid(&self) -> String {
        self.0.id().to_string()
    }
}

impl Drop for Service {
    fn drop(&mut self) {
        // It and what it made are a session of their own.
        for pid in std::iter::once(self.0.id().cast_signed()).chain(children(self.0.id())) {
            let pid = rustix::process::Pid::from_raw(pid).unwrap();
            let _ = rustix::process::kill_process(pid, rustix::process::Signal::KILL);
        }
        let _ = self.0.wait();
    }
}

pub(crate) fn children(pid: u32) -> Vec<i32> {
    let text = std::fs::read_to_string(format!("/proc/{pid}/task/{pid}/children"));
    let text = text.unwrap_or_default();
    text.split_whitespace().filter_map(|number| number.parse().ok()).collect()
}

/// A group below ours, gone with this value.
pub(crate) struct Group(pub(crate) PathBuf);

impl Group {
    /// Makes it below a group of ours.
    pub(crate) fn make(parent: &Path, name: &str) -> Self {
        let group = Self(parent.join(format!("test-nbuf-{name}-{}", std::process::id())));
        std::fs::create_dir(&group.0).unwrap();
        group
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        until("the group is empty", || std::fs::remove_dir(&self.0).is_ok());
    }
}
