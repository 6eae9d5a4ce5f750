//! `nbuf size` in a virtual machine: Debian 13 with cgroup v2, systemd, and the multi-generational LRU on and off.
//!
//! Makes a disc image from Debian packages once, in `target/vm`, boots it in QEMU, and sizes a few programs of
//! `cargo xtask accuracy` there. It compares counts alone, because an emulated processor says nothing of time. Takes an
//! hour at most, as root. It writes only into `target/vm`, and leaves no process or mount (`contained`).

mod contained;
mod image;
mod job;
mod machine;
mod serial;
mod table;

use std::fmt::Write;
use std::fs;
use std::path::Path;

use anyhow::{Context, Result, ensure};

use crate::accuracy::Program;
use image::Image;
pub use image::Kernel;

/// The programs that run if none are named.
const DEFAULT: [&str; 6] = ["sqlite3", "scans", "grep", "tar", "sendfile", "python"];
/// Minutes for the whole of a boot, its programs included.
const MINUTES: u32 = 55;

/// What to run in which machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Spec {
    kernel: Kernel,
    programs: Vec<String>,
}

impl Spec {
    /// Reads the arguments: `backports`, and names of programs.
    pub fn parse(arguments: impl Iterator<Item = String>) -> Result<Self> {
        let mut spec = Self { kernel: Kernel::Stable, programs: Vec::new() };
        for argument in arguments {
            match argument.as_str() {
                "backports" => spec.kernel = Kernel::Backports,
                name => {
                    Program::by_name(name).with_context(|| {
                        format!("no program `{name}`; those of `cargo xtask accuracy` have names")
                    })?;
                    spec.programs.push(argument);
                }
            }
        }
        if spec.programs.is_empty() {
            spec.programs = DEFAULT.map(str::to_owned).to_vec();
        }
        Ok(spec)
    }
}

/// One line about the first thing that this machine does not have.
pub fn missing() -> Option<String> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let has = |name: &str| std::env::split_paths(&path).any(|folder| folder.join(name).is_file());
    first_missing(std::env::consts::ARCH, is_root(), has)
}

fn is_root() -> bool {
    fs::metadata("/proc/self").is_ok_and(|own| std::os::unix::fs::MetadataExt::uid(&own) == 0)
}

fn first_missing(architecture: &str, is_root: bool, has: impl Fn(&str) -> bool) -> Option<String> {
    if architecture != "x86_64" {
        return Some(format!("vm: skipped, no image for {architecture}"));
    }
    if !is_root {
        return Some("vm: skipped, only root can make the image".to_owned());
    }
    let needed = [
        ("debootstrap", "debootstrap"),
        (machine::QEMU, "qemu-system-x86"),
        ("mke2fs", "e2fsprogs"),
        ("setpriv", "util-linux"),
        ("unshare", "util-linux"),
    ];
    let (program, package) = needed.into_iter().find(|(program, _)| !has(program))?;
    Some(format!("vm: skipped, no program `{program}`; install it: `apt-get install {package}`"))
}

/// Boots the machine, and returns the table of its counts.
pub fn run(repository: &Path, nbuf: &Path, spec: &Spec) -> Result<String> {
    ensure!(nbuf.is_file(), "no {}; `cargo build --release` makes it", nbuf.display());
    let folder = repository.join("target/vm");
    fs::create_dir_all(&folder)?;
    let lock = fs::File::create(folder.join("lock"))?;
    lock.try_lock().context("another `cargo xtask vm` runs")?;
    let image = Image::make(&folder, spec.kernel)?;
    let place = folder.join("run");
    let programs: Vec<&Program> =
        spec.programs.iter().filter_map(|name| Program::by_name(name)).collect();
    // A run that was killed leaves its discs.
    let _ = fs::remove_dir_all(&place);
    fs::create_dir(&place)?;
    let discs = job::discs(&place, nbuf, &programs, MINUTES)?;
    let (serial, console) = (folder.join("serial.log"), folder.join("console.log"));
    let boot = machine::Boot {
        image: &image,
        job: &discs.job,
        kept: &discs.kept,
        serial: &serial,
        console: &console,
        has_kvm: machine::has_kvm(),
        minutes: MINUTES,
    };
    let status = contained::status(&boot.command(), &place)?;
    let text = fs::read(&serial).unwrap_or_default();
    let seen = serial::parse(&String::from_utf8_lossy(&text));
    let mut table = table::markdown(&seen);
    let traces = folder.join("traces").join(spec.kernel.name());
    let _ = match discs.copy_kept(&traces) {
        Ok(()) => writeln!(table, "\nThe traces are in {}.", traces.display()),
        Err(error) => writeln!(table, "\nno traces: {error:#}"),
    };
    if !seen.is_done {
        let (serial, console) = (serial.display(), console.display());
        let _ =
            writeln!(table, "\nnot complete: QEMU ended with {status}; see {console} and {serial}");
    }
    fs::remove_dir_all(&place)?;
    Ok(table)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_missing_is_one_line_that_says_skipped() {
        let check = |architecture, is_root, programs: &[&str], want: &str| {
            let line = first_missing(architecture, is_root, |name| programs.contains(&name));
            assert_eq!(line.as_deref().unwrap_or_default(), want);
        };
        check("riscv64", true, &[], "vm: skipped, no image for riscv64");
        check("x86_64", false, &[], "vm: skipped, only root can make the image");
        check(
            "x86_64",
            true,
            &["debootstrap", "mke2fs"],
            "vm: skipped, no program `qemu-system-x86_64`; install it: `apt-get install qemu-system-x86`",
        );
        let all = ["debootstrap", "mke2fs", "qemu-system-x86_64", "setpriv", "unshare"];
        check("x86_64", true, &all, "");
    }

    #[test]
    fn arguments_name_programs_and_the_kernel() {
        let parse = |words: &[&str]| Spec::parse(words.iter().map(|&word| word.to_owned()));
        let spec = parse(&[]).unwrap();
        assert_eq!((spec.kernel, spec.programs.len()), (Kernel::Stable, DEFAULT.len()));
        let spec = parse(&["backports", "grep"]).unwrap();
        assert_eq!((spec.kernel, spec.programs), (Kernel::Backports, vec!["grep".to_owned()]));
        assert!(parse(&["no-such"]).unwrap_err().to_string().contains("no program `no-such`"));
        for name in DEFAULT {
            assert!(Program::by_name(name).is_some(), "{name}");
        }
    }
}
