//! Block devices behind a server: loop devices of our own, over small files.

use std::fs::{self, File};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::Server;
use crate::support::{Lock, Need, Place, requires_shared};
use crate::{MIB, image, output};

/// A loop device over a file, detached with this value.
#[derive(Debug)]
pub(crate) struct Loop {
    pub(crate) name: String,
}

impl Loop {
    pub(crate) fn over(image: &Path, options: &[&str]) -> Self {
        let mut command = Command::new("losetup");
        let output = command.args(["--find", "--show"]).args(options).arg(image).output().unwrap();
        assert!(output.status.success(), "{output:?}");
        Self { name: String::from_utf8(output.stdout).unwrap().trim().to_owned() }
    }
}

impl Drop for Loop {
    fn drop(&mut self) {
        let _ = Command::new("losetup").args(["--detach", &self.name]).status();
    }
}

pub(crate) fn requires_loop(programs: &[&'static str]) -> Option<Lock> {
    let needs = programs.iter().map(|name| Need::Program(name));
    let all = [Need::Loop, Need::Program("losetup")].into_iter().chain(needs);
    requires_shared(&all.collect::<Vec<_>>())
}

/// What `nbuf serve` says of a disc that it refuses: one line.
pub(crate) fn refusal(place: &Place, disc: &str, options: &[&str]) -> String {
    let socket = place.path("refused");
    let mut command = place.nbuf(["serve", "--size", "1MiB", "--disc", disc, "--socket"]);
    let output = command.arg(socket).args(options).output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!((output.status.code(), said.lines().count()), (Some(125), 1), "{said}");
    said
}

fn blocks(file: &Path) -> u64 {
    File::open(file).unwrap().sync_all().unwrap();
    fs::metadata(file).unwrap().blocks()
}

fn on(place: &Place) -> PathBuf {
    place.path("disc.img")
}

/// Reads, writes of any bytes, zeros and trims, over devices with both sizes of blocks.
#[test]
fn a_device_has_what_was_written() {
    let Some(_lock) = requires_loop(&["nbdcopy", "qemu-io"]) else { return };
    for block in ["512", "4096"] {
        let place = Place::new();
        let (_, mut data) = image(&place, 8 * MIB);
        let device = Loop::over(&on(&place), &["--sector-size", block]);
        let disc = format!("device:{}", device.name);
        let server = Server::start(&place, &disc, &["--size", "1MiB", "--write", "back"]);
        let (uri, copy) = (server.uri(), place.path("copy"));
        output("nbdcopy", &[&uri, copy.to_str().unwrap()]);
        assert!(fs::read(&copy).unwrap() == data);
        let mut client = server.client();
        for (at, length) in [(5000, 700), (512, 512), (8 * MIB - 3, 3), (100_000, 70_000)] {
            assert_eq!(client.write(0, at as u64, &vec![77; length]), Some(0));
            data[at..at + length].fill(77);
        }
        // A part of a sector, and many blocks with parts at both ends.
        for (at, length) in [(9000, 100), (2 * MIB + 100, MIB), (40_960, 8192)] {
            let zero = format!("write -z {at} {length}");
            output("qemu-io", &["-t", "none", "-f", "raw", "-c", &zero, &uri]);
            data[at..at + length].fill(0);
        }
        assert_eq!(client.flush(), Some(0));
        let before = blocks(&on(&place));
        let discard = format!("discard {} {MIB}", 5 * MIB);
        output("qemu-io", &["-t", "none", "-f", "raw", "-c", &discard, &uri]);
        data[5 * MIB..6 * MIB].fill(0);
        assert_eq!(client.flush(), Some(0));
        assert!(before - blocks(&on(&place)) >= 2000, "{block}: it was not given back");
        drop(client);
        output("nbdcopy", &[&uri, copy.to_str().unwrap()]);
        assert!(fs::read(&copy).unwrap() == data, "{block}: by the server");
        assert_eq!(server.end().0, 0);
        assert!(fs::read(&device.name).unwrap() == data, "{block}: by the device");
    }
}

#[test]
fn a_device_that_others_use_is_refused() {
    let Some(_lock) = requires_loop(&["mkfs.ext4", "unshare", "mount"]) else { return };
    let place = Place::new();
    let (file, _) = image(&place, 8 * MIB);
    let device = Loop::over(&on(&place), &[]);
    let disc = format!("file:{}", device.name);
    output("mkfs.ext4", &["-qF", &device.name]);
    // Mounted by a shell that waits until its input ends.
    fs::create_dir(place.path("mnt")).unwrap();
    let script = format!("mount {} mnt && echo mounted && exec cat", device.name);
    let mut command = Command::new("unshare");
    command.args(["-m", "sh", "-c", &script]).current_dir(place.path(""));
    let mut mounter = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let mut said = [0; 8];
    std::io::Read::read_exact(mounter.stdout.as_mut().unwrap(), &mut said).unwrap();
    for options in [&[][..], &["--read-only"]] {
        let said = refusal(&place, &disc, options);
        assert!(said.contains("is mounted or in use by another program: unmount it"), "{said}");
    }
    drop(mounter.stdin.take());
    mounter.wait().unwrap();
    let server = Server::start(&place, &disc, &["--size", "1MiB"]);
    assert!(refusal(&place, &disc, &["--read-only"]).contains("in use by another"));
    let second = Command::new("mount").arg(&device.name).arg(place.path("mnt")).output().unwrap();
    assert!(!second.status.success(), "it is ours");
    assert_eq!(server.end().0, 0);
    // Several may read, and none may write meanwhile.
    let readers = ["first", "second"].map(|name| {
        let mut command = place.nbuf(["serve", "--size", "1MiB", "--read-only", "--disc", &disc]);
        command.arg("--socket").arg(place.path(name)).stderr(Stdio::piped());
        Server::spawn(command, place.path(name))
    });
    assert!(refusal(&place, &disc, &[]).contains("is locked by another server"));
    for server in readers {
        assert_eq!(server.client().read(1080, 2).unwrap(), [0x53, 0xef], "the magic of ext4");
        assert_eq!(server.end().0, 0);
    }
    drop(device);
    let device = Loop::over(&on(&place), &["--read-only"]);
    assert!(refusal(&place, &device.name, &[]).contains("cannot be written: add --read-only"));
    let server = Server::start(&place, &device.name, &["--size", "1MiB", "--read-only"]);
    assert_eq!(server.client().write(0, 0, &[1; 512]), Some(1));
    // The same device by two names is one disc.
    let other = place.path("other");
    output("cp", &["-a", &device.name, other.to_str().unwrap()]);
    let exports = [format!("a={}", device.name), format!("b=file:{}", other.display())];
    let options = ["serve", "--size", "1MiB", "--export", &exports[0], "--export", &exports[1]];
    let both = place.nbuf(options).output().unwrap();
    let said = String::from_utf8(both.stderr).unwrap();
    assert!(said.contains("the exports `a` and `b` have one disc"), "{said}");
    assert_eq!(server.end().0, 0);
    assert!(refusal(&place, "/dev/null", &[]).contains("neither a regular file nor a block"));
    drop(file);
}

/// What is behind the new end fails; all else goes on, and no byte is invented.
#[test]
fn a_device_that_becomes_smaller_is_an_error_of_the_disc() {
    let Some(_lock) = requires_loop(&[]) else { return };
    for kind in ["file", "direct"] {
        let place = Place::new();
        let (_, data) = image(&place, 4 * MIB);
        let device = Loop::over(&on(&place), &[]);
        let disc = format!("{kind}:{}", device.name);
        let server = Server::start(&place, &disc, &["--size", "64KiB"]);
        let mut client = server.client();
        assert!(client.read(3 << 20, 4096).unwrap() == data[3 * MIB..3 * MIB + 4096]);
        File::options().write(true).open(on(&place)).unwrap().set_len(2 << 20).unwrap();
        output("losetup", &["--set-capacity", &device.name]);
        for page in 0..32 {
            assert!(client.read(page * 4096, 4096).is_ok(), "what was cached is evicted");
        }
        assert_eq!(client.read(3 << 20, 4096), Err(Some(5)));
        assert_eq!(client.write(0, 3 << 20, &[1; 4096]), Some(5));
        assert_eq!(client.write(0, 1 << 20, &[1; 4096]), Some(0));
        assert_eq!(client.read(1 << 20, 4096).unwrap(), [1; 4096]);
        assert_eq!(server.end().0, 0);
    }
}
