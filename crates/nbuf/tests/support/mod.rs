//! What several tests of the program need: a place, a lock, a run, and skipping aloud.

pub(crate) mod apart;
pub(crate) mod chromium;
pub(crate) mod lock;
pub(crate) mod pids;
mod skip;
pub(crate) mod tracepoints;
pub(crate) mod truth;

use std::ffi::OsStr;
use std::fs::{self, File};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::time::Duration;

pub(crate) use lock::Lock;
use nbuf::internal::sys::cgroup::Hierarchies;
use nbuf::internal::sys::process;
use nbuf::internal::workload::record::mounted::Mounted;
use nbuf::internal::workload::record::names;
use nbuf::trace::{CacheEvent, Trace};
use nbuf::workload::format::native;
pub(crate) use skip::skip;

/// The program under test.
pub(crate) const NBUF: &str = env!("CARGO_BIN_EXE_nbuf");

/// The file of tests, without its folder and its ending.
const CRATE: &str = env!("CARGO_CRATE_NAME");
/// How the names of those begin that judge time. A tracepoint that is kept open makes every system call slower.
const JUDGE_TIME: [&str; 6] = ["bench", "load", "ping", "run", "timing", "watch"];

/// What a test cannot do without.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Need {
    /// Root, and the kernel's tracepoints.
    Tracepoints,
    /// An account for those who have none.
    Nobody,
    /// A program by this name.
    Program(&'static str),
    /// A loop device to be had.
    Loop,
}

/// Takes the machine for a test alone if all that is needed is there; says aloud what is not.
pub(crate) fn requires(needs: &[Need]) -> Option<Lock> {
    are_met(needs).then(Lock::alone)
}

/// The same for a test that others may run next to: it kills no nbuf that has groups, counts nothing of the whole
/// machine, and judges no time.
pub(crate) fn requires_shared(needs: &[Need]) -> Option<Lock> {
    are_met(needs).then(Lock::shared)
}

fn are_met(needs: &[Need]) -> bool {
    let reason = needs.iter().find_map(|need| missing(*need));
    if let Some(reason) = &reason {
        skip(reason);
    } else if needs.contains(&Need::Tracepoints)
        && !JUDGE_TIME.iter().any(|name| CRATE.starts_with(name))
    {
        tracepoints::keep();
    }
    reason.is_none()
}

/// Why a need is not met.
pub(crate) fn missing(need: Need) -> Option<String> {
    match need {
        Need::Tracepoints if !process::is_root() => Some("recording needs root".into()),
        Need::Tracepoints => tracepoints::missing(),
        Need::Loop => {
            let free = Command::new("losetup").arg("-f").output();
            let has = free.is_ok_and(|output| output.status.success());
            (!has).then(|| "no loop device".into())
        }
        Need::Nobody => process::account(65534).is_none().then(|| "no account 65534".into()),
        Need::Program(name) => {
            let path = std::env::var_os("PATH").unwrap_or_default();
            let found = std::env::split_paths(&path).any(|folder| folder.join(name).exists());
            (!found).then(|| format!("no program {name}"))
        }
    }
}

/// A directory on a real file system, gone with this value.
#[derive(Debug)]
pub(crate) struct Place {
    directory: tempfile::TempDir,
}

impl Place {
    pub(crate) fn new() -> Self {
        let directory = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
        fs::set_permissions(directory.path(), fs::Permissions::from_mode(0o755)).unwrap();
        Self { directory }
    }

    /// One that any user can walk to, on a disc.
    pub(crate) fn open_to_all() -> Option<Self> {
        let directory = tempfile::tempdir_in("/var/tmp").ok()?;
        fs::set_permissions(directory.path(), fs::Permissions::from_mode(0o777)).unwrap();
        let probe = File::create(directory.path().join("probe")).unwrap();
        let key = names::key_of_file(&probe).unwrap();
        Mounted::here().may_be_file(key).then_some(Self { directory })
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.directory.path().canonicalize().unwrap().join(name)
    }

    /// The program under test, in a place that others can walk to. Linked, where it can be: what is
    /// open for writing while another test forks cannot be executed. Not to be changed.
    pub(crate) fn program(&self) -> PathBuf {
        let path = self.path("nbuf");
        fs::hard_link(NBUF, &path).or_else(|_| fs::copy(NBUF, &path).map(drop)).unwrap();
        path
    }

    /// A file of this many bytes.
    pub(crate) fn file(&self, name: &str, bytes: usize) -> PathBuf {
        let path = self.path(name);
        fs::write(&path, vec![b'a'; bytes]).unwrap();
        path
    }

    /// `nbuf`, about to run here.
    pub(crate) fn nbuf<A: AsRef<OsStr>>(&self, arguments: impl IntoIterator<Item = A>) -> Command {
        // A shell starts what runs behind it with SIGINT ignored, and `nohup` with SIGHUP; so would be what we start.
        let mut command = Command::new("env");
        command.args(["--default-signal=INT,QUIT,HUP", NBUF]);
        command.args(arguments).current_dir(self.directory.path());
        // The user who runs the tests may have come by sudo.
        command.env_remove("SUDO_UID").env_remove("SUDO_GID").env_remove("XDG_STATE_HOME");
        command
    }

    /// Records a shell script as `t.parquet`.
    pub(crate) fn record(&self, script: &str) -> Recorded {
        self.record_with(&[], script)
    }

    pub(crate) fn record_with(&self, options: &[&str], script: &str) -> Recorded {
        let mut command = self.nbuf(["record", "-o", "t.parquet"]);
        let output = command.args(options).args(["--", "sh", "-c", script]).output().unwrap();
        Recorded::of(output, &self.path("t.parquet"))
    }

    /// Sizes a command without asking. A report follows the command's output on standard output.
    pub(crate) fn size(&self, options: &[&str], command: &[&str]) -> Recorded {
        let mut nbuf = self.nbuf(["size", "-y"]);
        if !options.contains(&"--json") {
            nbuf.args(["--output", "-"]);
        }
        let output = nbuf.args(options).arg("--").args(command).output().unwrap();
        Recorded::of(output, &self.path("t.parquet"))
    }
}

/// What came of a recording or a sizing.
#[derive(Debug)]
pub(crate) struct Recorded {
    pub(crate) status: i32,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
    pub(crate) trace: Option<Trace>,
}

impl Recorded {
    /// With the trace at `path`, if one was made.
    pub(crate) fn of(output: Output, path: &Path) -> Self {
        let trace = File::open(path).ok().map(|file| native::read(file).unwrap());
        Self {
            status: output.status.code().expect("nbuf ends by itself"),
            stdout: String::from_utf8(output.stdout).unwrap(),
            stderr: String::from_utf8(output.stderr).unwrap(),
            trace,
        }
    }

    /// The document, which has standard output to itself.
    #[track_caller]
    pub(crate) fn json(&self) -> serde_json::Value {
        let parsed = serde_json::from_str(&self.stdout);
        parsed.unwrap_or_else(|error| panic!("{error}: {} {}", self.stdout, self.stderr))
    }

    /// Returns the trace; panics with the output when there is none.
    #[track_caller]
    pub(crate) fn trace(&self) -> &Trace {
        self.trace.as_ref().unwrap_or_else(|| panic!("no trace: {self:?}"))
    }
}

/// Bytes that `op` covered in the file by exactly this name; nothing if there is no such file.
pub(crate) fn bytes(trace: &Trace, path: &Path, op: CacheEvent) -> Option<u64> {
    let name = path.to_str().unwrap();
    let file = trace.files.iter().position(|file| file == name)?;
    let here = trace.records.iter().filter(|r| r.file.0 as usize == file && r.op == op);
    Some(here.map(|record| u64::from(record.length_bytes)).sum())
}

/// Waits until something is so; a deadline far off turns a hang into a failure, unless there is one already: a second
/// panic, while what a test made is dropped, would end all tests of the program.
#[track_caller]
pub(crate) fn until(what: &str, mut is_so: impl FnMut() -> bool) {
    for _ in 0..3000 {
        if is_so() {
            return;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    assert!(std::thread::panicking(), "waited in vain: {what}");
}

/// Whether a process has blocked `SIGINT`, which our program then receives by other means.
pub(crate) fn listens(pid: u32) -> bool {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    let blocked = status.lines().find_map(|line| line.strip_prefix("SigBlk:"));
    let blocked = blocked.and_then(|set| u64::from_str_radix(set.trim(), 16).ok());
    blocked.is_some_and(|set| set & 2 != 0)
}

/// Whether a process runs (a zombie does not).
pub(crate) fn is_alive(pid: &str) -> bool {
    let stat = fs::read_to_string(format!("/proc/{}/stat", pid.trim())).unwrap_or_default();
    stat.rsplit_once(") ").is_some_and(|(_, rest)| !rest.starts_with('Z'))
}

/// Groups of the nbuf with this process number, which runs where we do.
pub(crate) fn groups_of(nbuf: u32) -> Vec<String> {
    let Hierarchies { memory_v1, unified, blkio_v1 } = Hierarchies::of_this_process();
    groups_below([memory_v1, unified, blkio_v1].into_iter().flatten(), nbuf)
}

/// The same directly below these groups.
pub(crate) fn groups_below(parents: impl Iterator<Item = PathBuf>, nbuf: u32) -> Vec<String> {
    let entries = parents.filter_map(|parent| fs::read_dir(parent).ok()).flatten().flatten();
    let names = entries.filter_map(|entry| entry.file_name().into_string().ok());
    let owner = format!("-{nbuf}-");
    names.filter(|name| name.starts_with("nbuf-") && name.contains(&owner)).collect()
}

/// Processes whose command line has this word.
pub(crate) fn with_word(word: &str) -> Vec<i32> {
    let processes = fs::read_dir("/proc").unwrap().flatten();
    let numbers = processes.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    let has = |pid: &i32| {
        let line = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        line.split(|&byte| byte == 0).any(|argument| argument == word.as_bytes())
    };
    numbers.filter(has).collect()
}
