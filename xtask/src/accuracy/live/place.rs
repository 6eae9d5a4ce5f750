//! What the harness makes outside of its folder: a disc with a window of its own, and groups for a service. A
//! guard takes each away, also when the harness is killed: it waits for the end of a pipe.

use std::fs;
use std::io::{BufRead, BufReader};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use anyhow::{Context, Result, bail};

use crate::process;

/// The window of discs as they come.
const READAHEAD_KIB: &str = "128";

const DISC: &str = "trap '' INT TERM HUP
truncate -s 3G \"$1\" && mkfs.ext4 -q \"$1\" && loop=$(losetup --find --show --direct-io=on \"$1\") &&
    echo $3 >/sys/block/${loop#/dev/}/queue/read_ahead_kb && mkdir \"$2\" && mount $loop \"$2\" && echo $loop || echo
cat >/dev/null
for i in $(seq 100); do
    mountpoint -q \"$2\" || break
    umount \"$2\" 2>/dev/null || sleep 0.1
done
[ -z \"$loop\" ] || losetup -d $loop
rmdir \"$2\"; rm -f \"$1\"";

const GROUPS: &str = "trap '' INT TERM HUP
mkdir \"$1\" \"$2\" && echo made || echo
cat >/dev/null
echo -1 >\"$1/memory.limit_in_bytes\"
for i in $(seq 100); do
    pids=$(cat \"$1/cgroup.procs\" \"$2/cgroup.procs\" 2>/dev/null | sort -u)
    [ -n \"$pids\" ] || break
    case $i in 1) signal=TERM;; 10) signal=INT;; [2-9] | [1-4]?) signal=0;; *) signal=KILL;; esac
    kill -$signal $pids 2>/dev/null
    sleep 0.1
done
echo 0 >\"$1/memory.force_empty\" 2>/dev/null
for i in $(seq 100); do rmdir \"$1\" && break; sleep 0.1; done
rmdir \"$2\"";

/// A shell that makes something, prints a line, and takes it away when its input ends.
#[derive(Debug)]
struct Guard {
    shell: Child,
    line: String,
}

impl Guard {
    fn start(script: &str, words: &[&Path]) -> Result<Self> {
        let mut shell = Command::new("setsid");
        shell.args(["sh", "-c", script, "sh"]).args(words).arg(READAHEAD_KIB);
        let mut shell = shell.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
        let mut line = String::new();
        let stdout = shell.stdout.take().context("no pipe")?;
        BufReader::new(stdout).read_line(&mut line)?;
        let guard = Self { shell, line: line.trim().to_owned() };
        if guard.line.is_empty() {
            bail!("cannot make {}; the harness needs root", words[0].display());
        }
        Ok(guard)
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        drop(self.shell.stdin.take());
        let _ = self.shell.wait();
    }
}

/// A disc of files, mounted.
#[derive(Debug)]
pub(super) struct Disc {
    at: PathBuf,
    _guard: Guard,
}

impl Disc {
    pub(super) fn make(folder: &Path) -> Result<Self> {
        let at = folder.join("disc");
        let guard = Guard::start(DISC, &[&folder.join("disc.img"), &at])?;
        Ok(Self { at, _guard: guard })
    }

    pub(super) fn path(&self) -> &Path {
        &self.at
    }

    /// Drops what is cached of the files of a folder on it: the group that reads them next has them on its account.
    pub(super) fn drop_cache(&self, folder: &Path) -> Result<()> {
        process::run(Command::new("sync").arg("-f").arg(&self.at))?;
        let mut find = Command::new("find");
        find.arg(folder).args(["-type", "f", "-exec", "dd", "if={}", "iflag=nocache", "count=0"]);
        process::run(find.args(["status=none", ";"]))
    }
}

/// The groups of a service: one for its memory, and one for the kernel's counters.
#[derive(Debug)]
pub(super) struct Groups {
    pub(super) memory: PathBuf,
    unified: PathBuf,
    name: String,
    _guard: Guard,
}

impl Groups {
    /// Makes them below those of this process.
    pub(super) fn make(service: &str) -> Result<Self> {
        let own = fs::read_to_string("/proc/self/cgroup")?;
        let of = |kind: &str| {
            own.lines().find_map(|line| line.split_once(kind).map(|(_, path)| path.to_owned()))
        };
        let memory = of(":memory:").context("the memory controller of version 1 is not here")?;
        let unified = of("0::").context("there is no unified hierarchy")?;
        let name = format!("nbuf-accuracy-{service}-{}", std::process::id());
        let memory = PathBuf::from(format!("/sys/fs/cgroup/memory{memory}")).join(&name);
        let name = format!("{}/{name}", unified.trim_end_matches('/'));
        let unified = PathBuf::from(format!("/sys/fs/cgroup/unified{name}"));
        let guard = Guard::start(GROUPS, &[&memory, &unified])?;
        let name = name.trim_start_matches('/').to_owned();
        Ok(Self { memory, unified, name, _guard: guard })
    }

    /// As perf names it.
    pub(super) fn name(&self) -> &str {
        &self.name
    }

    /// A command that is in the groups before its program begins.
    pub(super) fn command(&self, script: &str) -> Command {
        let mut shell = Command::new("setsid");
        let join = "echo $$ >\"$1/cgroup.procs\" && echo $$ >\"$2/cgroup.procs\" && shift 2 && eval \"$1\"";
        shell.args(["sh", "-c", join, "sh"]).args([&self.memory, &self.unified]).arg(script);
        shell
    }

    /// A figure of its account.
    fn stat(&self, key: &str) -> Result<u64> {
        let text = fs::read_to_string(self.memory.join("memory.stat"))?;
        let found = text.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix(' '));
        Ok(found.with_context(|| format!("memory.stat has no {key}"))?.parse()?)
    }

    /// The pages of its files. The kernel counts shared memory as cache, and no file has it.
    pub(super) fn cache(&self) -> Result<u64> {
        Ok(self.stat("cache")?.saturating_sub(self.stat("shmem")?))
    }

    /// What is charged to it apart from its cache.
    pub(super) fn other(&self) -> Result<u64> {
        let held = fs::read_to_string(self.memory.join("memory.usage_in_bytes"))?;
        Ok(held.trim().parse::<u64>()?.saturating_sub(self.cache()?))
    }

    /// Limits its memory, or not any more.
    pub(super) fn limit(&self, bytes: Option<u64>) -> Result<()> {
        let text = bytes.map_or_else(|| "-1".to_owned(), |bytes| bytes.to_string());
        let file = self.memory.join("memory.limit_in_bytes");
        fs::write(&file, &text).with_context(|| format!("{text} to {}", file.display()))
    }

    pub(super) fn is_alive(&self) -> bool {
        fs::read_to_string(self.memory.join("cgroup.procs")).is_ok_and(|pids| !pids.is_empty())
    }
}

/// The kernel's own number of the device that a path is on.
pub(super) fn device(path: &Path) -> Result<u64> {
    let device = fs::metadata(path)?.dev();
    let (major, minor) = (device >> 8 & 0xfff, device & 0xff | device >> 12 & 0xf_ff00);
    Ok(major << 20 | minor)
}
