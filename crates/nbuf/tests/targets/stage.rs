//! Where targets run: a place with what they need, in a group of processes that holds all they start.

use std::fs;
use std::io::Read;
use std::os::unix::fs::{PermissionsExt, chown};
use std::os::unix::process::ExitStatusExt;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use nbuf::internal::sys::process;

use super::rows::{Mode, Row};
use super::support::{Place, groups_of, skip};

/// A variable that all that we start has.
const WORD: &str = "NBUF_TARGET";
const USER: u32 = 65534;
const DEADLINE: Duration = Duration::from_mins(1);
/// What a run may leave for a moment: the kernel takes time to take processes apart.
const GRACE: Duration = Duration::from_secs(5);
/// All that a target may start, and nbuf.
const PROCESSES: u32 = 600;

const SOURCES: [(&str, &str); 9] = [
    ("targets.h", include_str!("programs/targets.h")),
    ("main.c", include_str!("programs/main.c")),
    ("launch.c", include_str!("programs/launch.c")),
    ("processes.c", include_str!("programs/processes.c")),
    ("signals.c", include_str!("programs/signals.c")),
    ("starts.c", include_str!("programs/starts.c")),
    ("filters.c", include_str!("programs/filters.c")),
    ("files.c", include_str!("programs/files.c")),
    ("calls.c", include_str!("programs/calls.c")),
];
/// Says how many bits it has, and nothing else: there may be no library for it.
const SMALL: &str = "void _start(void) {
    static const char text[] = \"32 bits\\n\";
    __asm__ volatile(\"int $0x80\" :: \"a\"(4), \"b\"(1), \"c\"(text), \"d\"(8) : \"memory\");
    __asm__ volatile(\"int $0x80\" :: \"a\"(1), \"b\"(7));
}";

/// What came of a run.
#[derive(Clone, Debug)]
pub(crate) struct Seen {
    pub(crate) output: String,
    pub(crate) status: i32,
    pub(crate) errors: String,
    pub(crate) left: Vec<String>,
}

/// A place for targets.
pub(crate) struct Stage {
    place: Place,
    /// A group of the v1 pids hierarchy, where there is one.
    group: Option<PathBuf>,
}

impl Drop for Stage {
    fn drop(&mut self) {
        if let Some(group) = &self.group {
            let _ = fs::remove_dir(group);
        }
    }
}

impl Stage {
    /// The stage of this number.
    pub(crate) fn new(number: u32) -> Option<Self> {
        let place = Place::open_to_all()?;
        place.program();
        fs::set_permissions(place.path("nbuf"), fs::Permissions::from_mode(0o755)).unwrap();
        compile(&place);
        let file = |name: &str, text: &str, mode| {
            fs::write(place.path(name), text).unwrap();
            fs::set_permissions(place.path(name), fs::Permissions::from_mode(mode)).unwrap();
        };
        file("script", "echo \"script $0 $1 $2\"\nexit 6\n", 0o755);
        file("missing", "#!/nonexistent/interpreter\n", 0o755);
        file("plain", "exit 0\n", 0o644);
        fs::create_dir(place.path("folder")).unwrap();
        for (name, from, mode) in [
            ("suid", "/usr/bin/id", 0o4755),
            ("sgid", "/usr/bin/id", 0o2755),
            ("capable", "/bin/grep", 0o755),
        ] {
            fs::copy(from, place.path(name)).unwrap();
            if mode > 0o777 {
                chown(place.path(name), Some(7), Some(7)).unwrap();
            }
            fs::set_permissions(place.path(name), fs::Permissions::from_mode(mode)).unwrap();
        }
        // Skipped aloud by its row where there is none.
        let capable = place.path("capable");
        let _ = Command::new("setcap").arg("cap_net_raw+ep").arg(capable).status();
        let group = pids_group(number);
        if group.is_none() {
            skip("no group for processes: storms are bounded by themselves alone");
        }
        Some(Self { place, group })
    }

    /// Whether a group holds all that runs here.
    pub(crate) fn has_group(&self) -> bool {
        self.group.is_some()
    }

    /// Without nbuf.
    pub(crate) fn bare(&self, row: &Row, variant: &str, user: bool) -> Seen {
        let start = if user { format!("uid={USER} ") } else { String::new() };
        self.run(row, variant, &start, &[], user)
    }

    /// Recorded.
    pub(crate) fn recorded(&self, row: &Row, variant: &str, mode: Mode) -> Seen {
        let start = if mode == Mode::UserCalls { format!("uid={USER} ") } else { String::new() };
        let nbuf = ["./nbuf", "record", "--capture", mode.capture(), "-o", "t.parquet", "--"];
        let mut seen = self.run(row, variant, &start, &nbuf, mode.is_user());
        if row.name.starts_with("what /proc/self/status") && mode.capture() == "calls" {
            let traced = seen.output == "Seccomp:\t2\nNoNewPrivs:\t1\n";
            seen.output = if traced { "TRACED".into() } else { seen.output };
        }
        seen
    }

    fn run(&self, row: &Row, variant: &str, start: &str, before: &[&str], user: bool) -> Seen {
        let names = self.names();
        let mut command = Command::new(self.place.path("targets"));
        command.arg("launch").args(before.is_empty().then_some("last"));
        if let Some(group) = &self.group {
            command.arg(format!("group={}/cgroup.procs", group.display()));
        }
        let words = format!("{start} {}", row.start.replace("{}", variant));
        command.args(words.split_whitespace()).arg("--").args(before);
        let run = row.run.replace("{}", variant);
        let (words, script) = run.split_once(" -- ").map_or((&*run, None), |(w, s)| (w, Some(s)));
        let targets = self.place.path("targets").display().to_string();
        let placed = |word: &str| if word == "T" { targets.clone() } else { word.to_owned() };
        command.args(words.split(' ').map(placed)).args(script);
        command.current_dir(self.place.path("")).stdin(Stdio::null());
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        command.env(WORD, std::process::id().to_string());
        command.env("PATH", "/usr/sbin:/usr/bin:/sbin:/bin");
        for name in ["SUDO_UID", "SUDO_GID", "XDG_STATE_HOME", "NBUF_SKIP_LOG"] {
            command.env_remove(name);
        }
        if user {
            let account = process::account(USER).unwrap();
            command.env("SUDO_UID", USER.to_string()).env("SUDO_GID", USER.to_string());
            command.env("HOME", &account.home).env("USER", &account.name);
            command.env("LOGNAME", &account.name);
        }
        let mut seen = self.watch(command.spawn().unwrap(), !before.is_empty());
        if let Ok(text) = fs::read_to_string(self.place.path("seen")) {
            seen.output += &text;
            fs::remove_file(self.place.path("seen")).unwrap();
        }
        let _ = fs::remove_file(self.place.path("t.parquet"));
        let after = self.names();
        let new = after.iter().filter(|name| !names.contains(name));
        for name in new {
            // A recording that was killed keeps what it has.
            if !(row.keeps_log && name == "t.parquet.log") {
                seen.left.push(format!("a file is left: {name}"));
            }
            fs::remove_file(self.place.path(name)).unwrap();
        }
        seen
    }

    /// To the end of all its processes.
    fn watch(&self, mut child: Child, recorded: bool) -> Seen {
        let pid = child.id();
        let (output, errors) = (reader(child.stdout.take()), reader(child.stderr.take()));
        let mut left = Vec::new();
        let mut ended = None;
        if !within(DEADLINE, || {
            ended = child.try_wait().unwrap();
            ended.is_some()
        }) {
            left.push("it hangs".to_owned());
            child.kill().unwrap();
            self.kill_all();
        }
        let status = ended.unwrap_or_else(|| child.wait().unwrap());
        // A daemon may outlive the command, but not nbuf.
        if !within(if recorded { GRACE } else { DEADLINE }, || self.members().is_empty()) {
            left.push(format!("processes are left: {:?}", self.members()));
            self.kill_all();
        }
        left.extend(groups_of(pid).into_iter().map(|group| format!("a group is left: {group}")));
        let status = status.code().or_else(|| status.signal().map(|signal| 128 + signal)).unwrap();
        Seen { output: output.join().unwrap(), status, errors: errors.join().unwrap(), left }
    }

    /// What runs here: all of the group or, without one, all that have our word.
    fn members(&self) -> Vec<i32> {
        let Some(group) = &self.group else {
            let processes = fs::read_dir("/proc").unwrap().flatten();
            let numbers = processes.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
            let word = format!("{WORD}={}", std::process::id());
            let has = |pid: &i32| {
                let variables = fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
                variables.split(|&byte| byte == 0).any(|variable| variable == word.as_bytes())
            };
            return numbers.filter(has).collect();
        };
        let list = fs::read_to_string(group.join("cgroup.procs")).unwrap();
        list.lines().filter_map(|pid| pid.parse().ok()).filter(|&pid| pid > 1).collect()
    }

    /// Kills what runs in our own group, one by one.
    fn kill_all(&self) {
        within(GRACE, || {
            for &pid in &self.members() {
                let _ = process::signal(pid, 9);
            }
            self.members().is_empty()
        });
    }

    fn names(&self) -> Vec<String> {
        let entries = fs::read_dir(self.place.path("")).unwrap().flatten();
        entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect()
    }
}

fn compile(place: &Place) {
    let build = place.path("build");
    fs::create_dir(&build).unwrap();
    for (name, text) in SOURCES.into_iter().chain([("small", SMALL)]) {
        fs::write(build.join(name), text).unwrap();
    }
    let sources = SOURCES.iter().map(|(name, _)| name).filter(|name| **name != "targets.h");
    let mut cc = Command::new("cc");
    cc.args(["-O1", "-w", "-pthread", "-o", "../targets"]).args(sources).current_dir(&build);
    assert!(cc.status().unwrap().success(), "the targets do not compile");
    let mut cc = Command::new("cc");
    cc.args(["-m32", "-static", "-nostdlib", "-o", "../small", "-x", "c", "small"]);
    let done = cc.current_dir(&build).status().unwrap();
    if !done.success() {
        skip("no 32-bit programs can be compiled");
        fs::write(place.path("small"), "exit 7\n").unwrap();
        fs::set_permissions(place.path("small"), fs::Permissions::from_mode(0o755)).unwrap();
    }
    fs::remove_dir_all(build).unwrap();
}

/// A group of our own below ours in the v1 pids hierarchy.
fn pids_group(number: u32) -> Option<PathBuf> {
    let ours = fs::read_to_string("/proc/self/cgroup").ok()?;
    let path = ours.lines().find_map(|line| line.split_once(":pids:/").map(|(_, path)| path))?;
    let above = PathBuf::from("/sys/fs/cgroup/pids").join(path);
    let group = above.join(format!("nbuf-targets-{}-{number}", std::process::id()));
    fs::create_dir(&group).ok()?;
    fs::write(group.join("pids.max"), PROCESSES.to_string()).ok()?;
    Some(group)
}

/// Looks whether it is so until it is, or for so long.
fn within(limit: Duration, mut is_so: impl FnMut() -> bool) -> bool {
    const STEP: Duration = Duration::from_millis(2);
    let steps = limit.as_millis() / STEP.as_millis();
    (0..steps).any(|_| {
        let so = is_so();
        if !so {
            thread::sleep(STEP);
        }
        so
    })
}

fn reader(from: Option<impl Read + Send + 'static>) -> JoinHandle<String> {
    thread::spawn(move || {
        let mut all = Vec::new();
        from.unwrap().read_to_end(&mut all).unwrap();
        String::from_utf8_lossy(&all).into_owned()
    })
}
