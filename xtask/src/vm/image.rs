//! The disc image: Debian 13 from its packages, with a service that runs a job at boot.
//!
//! `debootstrap` installs the packages in a folder, and `mke2fs -d` makes a file system of the folder, so that no loop
//! device is needed. The image stays in `target/vm` until its recipe changes.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};

use super::contained;
use crate::process;

/// The release of Debian.
const SUITE: &str = "trixie";
/// Packages next to those of a minimal system: what boots it, and what the programs need.
const PACKAGES: [&str; 11] = [
    "systemd-sysv",
    "udev",
    "dbus",
    "kmod",
    "linux-image-amd64",
    "initramfs-tools",
    "zstd",
    "sqlite3",
    "python3",
    "gcc",
    "libc6-dev",
];
/// Room for the packages and the data.
const SIZE: &str = "6G";
/// Runs the job of the second disc, and then switches the machine off, whatever came of it. The machine boots into it,
/// and nothing that depends on it is stopped: the image stays as it was, so the quickest end is the best.
const SERVICE: &str = "\
[Unit]
Description=The job of the second disc

[Service]
Type=oneshot
Environment=HOME=/root
ExecStart=/bin/sh -c 'mkdir -p /job && mount -o ro /dev/vdb /job && sh /job/run.sh'
ExecStopPost=/bin/systemctl poweroff --force --force
";

/// Where the kernel comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kernel {
    /// The one of the release.
    Stable,
    /// The newest that is packaged for the release.
    Backports,
}

impl Kernel {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Stable => "stable",
            Self::Backports => "backports",
        }
    }
}

/// The files to boot.
#[derive(Clone, Debug)]
pub(super) struct Image {
    pub(super) disc: PathBuf,
    pub(super) kernel: PathBuf,
    pub(super) initial: PathBuf,
}

impl Image {
    /// The image in this folder; made if it is not there, or was made by another recipe.
    pub(super) fn make(folder: &Path, kernel: Kernel) -> Result<Self> {
        let folder = folder.join(kernel.name());
        let image = Self {
            disc: folder.join("root.ext4"),
            kernel: folder.join("vmlinuz"),
            initial: folder.join("initrd"),
        };
        let (stamp, recipe) = (folder.join("recipe"), recipe(kernel));
        if fs::read_to_string(&stamp).is_ok_and(|made| made == recipe) {
            return Ok(image);
        }
        let root = folder.join("root");
        if root.exists() {
            fs::remove_dir_all(&root).context("removing what an earlier attempt left")?;
        }
        let _ = fs::remove_file(&stamp);
        fs::create_dir_all(&folder)?;
        let mirror = mirror();
        for command in install(&root, kernel, mirror.as_deref()) {
            contained::run(&command, &folder)?;
        }
        configure(&root)?;
        for (part, to) in [("vmlinuz-", &image.kernel), ("initrd.img-", &image.initial)] {
            let names = names(&root.join("boot"))?;
            let newest = newest(part, &names).with_context(|| format!("no {part} in /boot"))?;
            fs::copy(root.join("boot").join(newest), to)?;
        }
        let _ = fs::remove_file(&image.disc);
        let mut make = Command::new("mke2fs");
        make.args(["-q", "-t", "ext4", "-d"]).arg(&root).arg(&image.disc).arg(SIZE);
        process::run(&mut make)?;
        fs::remove_dir_all(&root)?;
        fs::write(stamp, recipe)?;
        Ok(image)
    }
}

/// What an image is made of: another text is another image.
fn recipe(kernel: Kernel) -> String {
    format!("{SUITE} {} {SIZE}\n{}\n{SERVICE}", kernel.name(), PACKAGES.join(" "))
}

/// The commands that put the packages into a folder.
fn install(root: &Path, kernel: Kernel, mirror: Option<&str>) -> Vec<Vec<String>> {
    let root = root.to_string_lossy().into_owned();
    let include = format!("--include={}", PACKAGES.join(","));
    let mut bootstrap =
        ["debootstrap", "--variant=minbase", &include, SUITE, &root].map(str::to_owned).to_vec();
    bootstrap.extend(mirror.map(str::to_owned));
    let mut commands = vec![bootstrap];
    if kernel == Kernel::Backports {
        // The image has the line of its own release, from which the other one follows.
        let script = format!(
            "sed 's/ {SUITE} / {SUITE}-backports /' /etc/apt/sources.list >/etc/apt/sources.list.d/backports.list && \
             apt-get update -q && apt-get install -q -y -t {SUITE}-backports linux-image-amd64"
        );
        commands.push(["chroot", &root, "sh", "-c", &script].map(str::to_owned).to_vec());
    }
    commands
}

/// Files of the image that no package has.
fn configure(root: &Path) -> Result<()> {
    fs::write(root.join("etc/systemd/system/job.service"), SERVICE)?;
    fs::write(root.join("etc/fstab"), "/dev/vda / ext4 defaults 0 0\n")?;
    fs::write(root.join("etc/hostname"), "nbuf-vm\n")?;
    Ok(())
}

/// The mirror that this machine installs Debian from; none on another distribution.
fn mirror() -> Option<String> {
    let files = ["/etc/apt/sources.list", "/etc/apt/sources.list.d/debian.sources"];
    files.into_iter().find_map(|path| mirror_in(&fs::read_to_string(path).ok()?))
}

/// The first address in a list of sources of apt, in either format.
fn mirror_in(sources: &str) -> Option<String> {
    sources.lines().find_map(|line| {
        let mut words = line.split_whitespace();
        let is_list = match words.next()? {
            "URIs:" => false,
            "deb" => true,
            _ => return None,
        };
        let mut words = words.skip_while(|word| is_list && !word.contains("://"));
        let is_debian = |word: &&str| {
            word.contains("://") && word.contains("debian") && !word.contains("security")
        };
        words.next().filter(is_debian).map(str::to_owned)
    })
}

fn names(folder: &Path) -> Result<Vec<String>> {
    let mut names = Vec::new();
    for entry in fs::read_dir(folder)? {
        names.push(entry?.file_name().to_string_lossy().into_owned());
    }
    Ok(names)
}

/// The file with this prefix and the highest version.
fn newest<'a>(prefix: &str, names: &'a [String]) -> Option<&'a str> {
    let matching = names.iter().map(String::as_str).filter(|name| name.starts_with(prefix));
    matching.max_by_key(|name| version(name))
}

/// The numbers in a name, from left to right.
fn version(name: &str) -> Vec<u64> {
    let numbers = name.split(|letter: char| !letter.is_ascii_digit());
    numbers.filter_map(|number| number.parse().ok()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_commands_install_the_packages_and_the_newer_kernel() {
        let stable = install(Path::new("/r"), Kernel::Stable, Some("http://mirror/debian"));
        let words: Vec<&str> = stable[0].iter().map(String::as_str).collect();
        assert_eq!((stable.len(), words[0], words[1]), (1, "debootstrap", "--variant=minbase"));
        assert!(words[2].contains("linux-image-amd64,initramfs-tools"), "{words:?}");
        assert_eq!(words[3..], ["trixie", "/r", "http://mirror/debian"]);
        let newer = install(Path::new("/r"), Kernel::Backports, None);
        assert_eq!((newer.len(), newer[0].len()), (2, 5));
        assert_eq!(newer[1][..2], ["chroot", "/r"]);
        assert!(newer[1][4].contains("-t trixie-backports linux-image-amd64"), "{newer:?}");
    }

    #[test]
    fn each_kernel_is_an_image_of_its_own() {
        assert_ne!(recipe(Kernel::Stable), recipe(Kernel::Backports));
        assert!(recipe(Kernel::Stable).contains("ExecStopPost=/bin/systemctl poweroff --force"));
    }

    #[test]
    fn the_mirror_is_the_first_address_of_the_sources() {
        let check = |text: &str, want: Option<&str>| {
            assert_eq!(mirror_in(text).as_deref(), want, "{text}");
        };
        check("# none\n", None);
        check("deb http://a/debian bookworm main\n", Some("http://a/debian"));
        check(
            "deb [arch=amd64 signed-by=/k] http://b/debian bookworm main\n",
            Some("http://b/debian"),
        );
        check(
            "Types: deb\n# x\nURIs: http://c/debian\nSuites: bookworm\n",
            Some("http://c/debian"),
        );
        check("deb http://archive.ubuntu.com/ubuntu noble main\n", None);
        check(
            "deb http://s/debian-security x main\ndeb http://d/debian x main\n",
            Some("http://d/debian"),
        );
        check("URIs:\n", None);
        check("deb cdrom:x bookworm\n", None);
    }

    #[test]
    fn the_newest_kernel_is_the_one_with_the_highest_version() {
        let names = [
            "config-6.12.9",
            "vmlinuz-6.12.9-amd64",
            "vmlinuz-6.12.41-amd64",
            "initrd.img-6.12.41",
        ];
        let names = names.map(str::to_owned);
        assert_eq!(newest("vmlinuz-", &names), Some("vmlinuz-6.12.41-amd64"));
        assert_eq!(newest("initrd.img-", &names), Some("initrd.img-6.12.41"));
        assert_eq!(newest("System.map-", &names), None);
    }
}
