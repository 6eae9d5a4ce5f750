//! What the machine does: a shell script on a disc of its own, with nbuf and the programs.

use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result};

use super::serial::DONE;
use crate::accuracy::{Program, tree};
use crate::process;

/// Room for nbuf, the tree of files and the scripts.
const SIZE: &str = "512M";
/// Room for the traces.
const SIZE_KEPT: &str = "1G";
/// Minutes of a boot that are not for the programs: booting an emulated machine, and making the data.
const MINUTES_OTHER: u32 = 15;
/// Shares of the footprint that are left as cache.
const AT: &str = "75%,50%,25%";

/// The functions of the script. It names the programs, and turns the multi-generational LRU on and off between runs. All
/// kernels get the same readahead: the one of a virtual disc differs between them, from 128 KiB to 8 MiB.
const FUNCTIONS: &str = r#"out=/dev/ttyS1
stty -F $out raw -echo 2>/dev/null
lru=/sys/kernel/mm/lru_gen/enabled
mkdir -p /kept && mount /dev/vdc /kept
echo 128 >/sys/block/vda/queue/read_ahead_kb
say() { printf '%s\n' "$*" >$out; }
data() {
    mkdir -p /data/$1 && cd /data/$1 || return
    [ "$2" = tree ] && cp -a /job/tree tree
    sh /job/$1.data >/tmp/out 2>&1 || say "@error $1: $(tail -n 1 /tmp/out)"
    sync
}
size() {
    say "@begin $1 $2 $(cat $lru 2>/dev/null)"
    cd /data/$1
    if [ -f /job/$1.before ]; then set -- "$1" "$2" "$3" --prepare "$(cat /job/$1.before)"; fi
    name=$1 wanted=$2 seconds=$3; shift 3
    /job/nbuf size -q --yes --json --force --max-time ${seconds}s --verify-at $at \
        --trace-out /kept/$name-$wanted.parquet "$@" \
        -- sh /job/$name.run >/tmp/out 2>/tmp/err
    status=$?
    cat /tmp/out >$out
    [ -s /tmp/out ] || say "@error $(tail -n 1 /tmp/err)"
    say "@end $status"
}
say "@fact kernel $(uname -r)"
say "@fact cgroup $(stat -fc %T /sys/fs/cgroup)"
say "@fact init $(cat /proc/1/comm)"
"#;

/// Makes both discs in this folder: the job, and an empty one for what it keeps.
pub(super) fn discs(
    folder: &Path,
    nbuf: &Path,
    programs: &[&Program],
    minutes: u32,
) -> Result<Discs> {
    let content = folder.join("content");
    fs::create_dir(&content)?;
    fs::copy(nbuf, content.join("nbuf"))
        .with_context(|| format!("no {}; `cargo build --release` makes it", nbuf.display()))?;
    if programs.iter().any(|program| program.tree) {
        tree(&content.join("tree"))?;
    }
    for program in programs {
        let file = |kind: &str| content.join(format!("{}.{kind}", program.name));
        fs::write(file("data"), program.data)?;
        fs::write(file("run"), program.script)?;
        if let Some(before) = program.before {
            fs::write(file("before"), before)?;
        }
    }
    fs::write(content.join("run.sh"), script(programs, minutes))?;
    let discs = Discs { job: folder.join("job.ext4"), kept: folder.join("kept.ext4") };
    let mut make = Command::new("mke2fs");
    make.args(["-q", "-t", "ext4", "-d"]).arg(&content).arg(&discs.job).arg(SIZE);
    process::run(&mut make)?;
    let mut make = Command::new("mke2fs");
    process::run(make.args(["-q", "-t", "ext4"]).arg(&discs.kept).arg(SIZE_KEPT))?;
    Ok(discs)
}

/// The discs of a boot.
#[derive(Debug)]
pub(super) struct Discs {
    pub(super) job: PathBuf,
    pub(super) kept: PathBuf,
}

impl Discs {
    /// Copies what the job kept into this folder, without a mount. What an earlier run kept goes.
    pub(super) fn copy_kept(&self, to: &Path) -> Result<()> {
        let _ = fs::remove_dir_all(to);
        fs::create_dir_all(to)?;
        let mut copy = Command::new("debugfs");
        copy.arg("-R").arg(format!("rdump / {}", to.display())).arg(&self.kept);
        // It also says which version it is.
        process::run(copy.stderr(Stdio::null()))?;
        let _ = fs::remove_dir(to.join("lost+found"));
        Ok(())
    }
}

/// The script: data first, then each program with the multi-generational LRU on and off.
fn script(programs: &[&Program], minutes: u32) -> String {
    let cells = u32::try_from(programs.len()).unwrap_or(u32::MAX).saturating_mul(2).max(1);
    let seconds = minutes.saturating_sub(MINUTES_OTHER).saturating_mul(60) / cells;
    let mut text = format!("at={AT}\n{FUNCTIONS}");
    for program in programs {
        let tree = if program.tree { "tree" } else { "-" };
        let _ = writeln!(text, "data {} {tree}", program.name);
    }
    for (word, name) in [("y", "on"), ("n", "off")] {
        let _ = writeln!(text, "echo {word} >$lru 2>/dev/null");
        for program in programs {
            let _ = writeln!(text, "size {} {name} {seconds}", program.name);
        }
    }
    let _ = writeln!(text, "umount /kept\nsay \"{DONE}\"");
    text
}

#[cfg(test)]
mod tests {
    use super::super::serial::{BEGIN, END, ERROR, FACT};
    use super::*;

    #[test]
    fn every_program_runs_both_ways_in_its_share_of_the_time() {
        let programs: Vec<&Program> =
            ["sqlite3", "grep"].iter().filter_map(|name| Program::by_name(name)).collect();
        let script = script(&programs, 55);
        let lines: Vec<&str> =
            script.lines().skip_while(|line| !line.starts_with("data s")).collect();
        assert_eq!(
            lines,
            [
                "data sqlite3 -",
                "data grep tree",
                "echo y >$lru 2>/dev/null",
                "size sqlite3 on 600",
                "size grep on 600",
                "echo n >$lru 2>/dev/null",
                "size sqlite3 off 600",
                "size grep off 600",
                "umount /kept",
                "say \"@done\"",
            ]
        );
        assert!(script.starts_with("at=75%,50%,25%\n"));
    }

    #[test]
    fn the_script_writes_the_marks_that_are_read() {
        for mark in [BEGIN, END, ERROR, FACT] {
            assert!(FUNCTIONS.contains(&format!("say \"{mark}")), "{mark}");
        }
    }

    #[test]
    fn a_shell_accepts_the_script() {
        let programs: Vec<&Program> = Program::by_name("git").into_iter().collect();
        let status = Command::new("sh").args(["-n", "-c", &script(&programs, 20)]).status();
        assert!(status.unwrap().success());
    }
}
