//! A tier that counts for flushes: what its journal owes after a kill and after an end, and what happens when it is lost.

use std::fs::{self, File};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use rustix::fs::{XattrFlags, fremovexattr, fsetxattr};

use super::{Nbdkit, Server};
use crate::MIB;
use crate::support::{Place, skip};

pub(super) const CHUNK: usize = 64 << 10;
const CHUNKS: usize = 8;

/// A file system of its own, in memory.
#[derive(Debug)]
struct Small(PathBuf);

impl Small {
    fn mount(at: PathBuf, size: &str) -> Option<Self> {
        if !rustix::process::geteuid().is_root() {
            skip("a file system of its own needs root");
            return None;
        }
        fs::create_dir(&at).unwrap();
        if !mount(&at, &format!("size={size}")) {
            skip("no file system of its own");
            return None;
        }
        Some(Self(at))
    }

    /// Leaves no room.
    fn fill(&self) {
        let mut file = File::create(self.0.join("full")).unwrap();
        while file.write_all(&[1; 4096]).is_ok() {}
    }

    /// Makes room again.
    fn empty(&self) {
        fs::remove_file(self.0.join("full")).unwrap();
    }
}

impl Drop for Small {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("-l").arg(&self.0).status();
    }
}

fn mount(at: &Path, options: &str) -> bool {
    let mut command = Command::new("mount");
    command.args(["-t", "tmpfs", "-o", options, "none"]).arg(at);
    command.status().is_ok_and(|status| status.success())
}

/// A disc that refuses all writes until there is room, and can have a mark. Its file system, its name and its path.
fn disc(place: &Place) -> Option<(Small, String, PathBuf)> {
    let small = Small::mount(place.path("slow"), "20m")?;
    let path = small.0.join("disc.img");
    let file = File::create(&path).unwrap();
    file.set_len(8 * MIB as u64).unwrap();
    if fsetxattr(&file, "user.a", b"1", XattrFlags::empty()).is_err() {
        skip("no attributes of files");
        return None;
    }
    fremovexattr(&file, "user.a").unwrap();
    small.fill();
    Some((small, format!("file:{}", path.display()), path))
}

pub(super) fn start(place: &Place, disc: &str, tier: &Path, more: &[&str]) -> Server {
    let tier = tier.to_str().unwrap();
    let own = ["--size", "64KiB", "--readahead", "off", "--tier-size", "4MiB", "--tier", tier];
    Server::start(place, disc, &[&own[..], more].concat())
}

/// Writes some bytes, flushes, and reads them again. The whole disc then.
pub(super) fn work(server: &Server) -> Vec<u8> {
    let mut data = vec![0; 8 * MIB];
    let mut client = server.client();
    for chunk in 0..CHUNKS {
        let at = chunk * 2 * CHUNK;
        data[at..at + CHUNK].fill(u8::try_from(chunk + 1).unwrap());
        assert_eq!(client.write(0, at as u64, &data[at..at + CHUNK]), Some(0), "{chunk}");
    }
    assert_eq!(client.flush(), Some(0));
    is_read(server, &data);
    data
}

pub(super) fn is_read(server: &Server, data: &[u8]) {
    let mut client = server.client();
    for at in (0..2 * MIB).step_by(CHUNK) {
        let read = client.read(at as u64, CHUNK).unwrap();
        assert!(read == data[at..at + CHUNK], "byte {at}");
    }
}

pub(super) fn kill(mut server: Server, place: &Place) {
    server.child.kill().unwrap();
    server.child.wait().unwrap();
    fs::remove_file(place.path("socket.ctl")).unwrap();
}

/// That a server does not start, and says why in one line. A check of the settings says the same, unless only a write to
/// the disc shows it.
fn refused(place: &Place, disc: &str, options: &[&str], want: &str) {
    let arguments = ["serve", "--disc", disc, "--size", "64KiB", "--socket", "other"];
    let output = place.nbuf(arguments).args(options).output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(said.contains(want) && said.trim_end().lines().count() == 1, "`{want}`: {said}");
    assert_eq!(output.status.code(), Some(125), "{said}");
    let needs_write = want.contains("the disc refuses");
    checked(place, disc, options, (!needs_write).then_some(want));
}

/// That a check of the settings refuses for this reason, or that all is right.
fn checked(place: &Place, disc: &str, options: &[&str], want: Option<&str>) {
    let mut command = place.nbuf(["serve", "--disc", disc, "--size", "64KiB", "--check-config"]);
    let output = command.args(options).output().unwrap();
    let said = String::from_utf8([output.stdout, output.stderr].concat()).unwrap();
    assert!(said.contains(want.unwrap_or("right: ")), "`{want:?}`: {said}");
    assert_eq!(said.trim_end().lines().count(), 1, "{said}");
    assert_eq!(output.status.code(), Some(if want.is_some() { 2 } else { 0 }), "{said}");
}

#[test]
fn what_was_flushed_survives_a_kill_with_a_disc_that_refused_it() {
    let place = Place::new();
    let Some((small, disc, path)) = disc(&place) else { return };
    let tier = place.path("tier");
    let owing = ["--tier-size", "4MiB", "--tier", tier.to_str().unwrap()];
    for write in ["through", "back", "around"] {
        let server = start(&place, &disc, &tier, &["--durable-tier", "--write", write]);
        let data = work(&server);
        // Where a server runs, journal and mark are its own.
        checked(&place, &disc, &owing, None);
        checked(&place, &disc, &[], None);
        kill(server, &place);
        assert!(fs::read(&path).unwrap() != data, "the disc has room");
        let journal = fs::read(place.path("tier.journal")).unwrap();
        checked(&place, &disc, &[&owing[..], &["--discard-dirty"]].concat(), None);
        assert!(
            fs::read(place.path("tier.journal")).unwrap() == journal,
            "a check changes nothing"
        );
        // No start that could write behind the journal, or take it for the one of another disc.
        refused(&place, &disc, &[], "may lack bytes that the journal ");
        let other = ["--tier-size", "4MiB", "--tier", "other.tier", "--durable-tier"];
        refused(&place, &disc, &other, "start with the tier of that journal");
        let read_only = [&owing[..], &["--read-only"]].concat();
        refused(&place, &disc, &read_only, "owes 512 KiB to the disc: start once without");
        refused(&place, &disc, &owing, "the disc refuses the 512 KiB that the journal ");
        let copy = place.path("copy.img");
        File::create(&copy).unwrap().set_len(8 * MIB as u64).unwrap();
        let copy = format!("file:{}", copy.display());
        refused(&place, &copy, &owing, "owes 512 KiB to another disc");
        small.empty();
        // Also a run whose tier does not count brings it to the disc.
        let more: &[&str] = if write == "back" { &[] } else { &["--durable-tier"] };
        let server = start(&place, &disc, &tier, more);
        is_read(&server, &data);
        assert!(fs::read(&path).unwrap() == data, "{write}");
        let (status, said) = server.end();
        assert_eq!(status, 0, "{said}");
        assert!(said.contains("owed 512 KiB of the last run, which the disc has now"), "{said}");
        // After an end in order any start is right.
        checked(&place, &disc, &[], None);
        checked(&place, &disc, &owing, None);
        let server = Server::start(&place, &disc, &["--size", "64KiB"]);
        is_read(&server, &data);
        assert_eq!(server.end().0, 0);
        File::options().write(true).open(&path).unwrap().set_len(0).unwrap();
        File::options().write(true).open(&path).unwrap().set_len(8 * MIB as u64).unwrap();
        small.fill();
    }
}

#[test]
fn bytes_that_a_journal_owes_are_lost_or_written_elsewhere_only_on_demand() {
    let place = Place::new();
    let Some((small, disc, path)) = disc(&place) else { return };
    let tier = place.path("tier");
    let server = start(&place, &disc, &tier, &["--durable-tier"]);
    let data = work(&server);
    kill(server, &place);
    // A copy of the journal that is older than the mark.
    let (journal, old) = (place.path("tier.journal"), place.path("old"));
    fs::copy(&journal, &old).unwrap();
    let copy = place.path("copy.img");
    File::create(&copy).unwrap().set_len(8 * MIB as u64).unwrap();
    let other = format!("file:{}", copy.display());
    let server = start(&place, &other, &tier, &["--write-dirty"]);
    is_read(&server, &data);
    let (status, said) = server.end();
    assert!(status == 0 && said.contains("which the disc has now"), "{said}");
    assert!(fs::read(&copy).unwrap() == data);
    // The first disc is still owed, and this journal has nothing for it.
    refused(&place, &disc, &[], "may lack bytes that the journal ");
    let server = start(&place, &disc, &tier, &["--discard-dirty", "--durable-tier"]);
    let lost = vec![0; 2 * MIB];
    is_read(&server, &lost);
    kill(server, &place);
    fs::copy(&old, &journal).unwrap();
    let owing = ["--tier-size", "4MiB", "--tier", tier.to_str().unwrap()];
    refused(&place, &disc, &owing, "to this one as it was before");
    small.empty();
    let server = start(&place, &disc, &tier, &["--discard-dirty"]);
    is_read(&server, &lost);
    let (status, said) = server.end();
    assert!(status == 0 && said.contains("which are lost now"), "{said}");
    assert!(fs::read(&path).unwrap().iter().all(|&byte| byte == 0));
}

#[test]
fn an_end_without_the_disc_says_how_many_bytes_the_journal_keeps() {
    let place = Place::new();
    let Some((small, disc, path)) = disc(&place) else { return };
    let tier = place.path("tier");
    let server = start(&place, &disc, &tier, &["--durable-tier"]);
    let data = work(&server);
    let (status, said) = server.end();
    assert_eq!(status, 1, "{said}");
    assert!(said.contains("524288 bytes were acknowledged and are not on the disc"), "{said}");
    assert!(said.contains("start the server with this tier again"), "{said}");
    small.empty();
    // A sound journal is not discarded.
    let server = start(&place, &disc, &tier, &["--durable-tier", "--discard-dirty"]);
    is_read(&server, &data);
    let (status, said) = server.end();
    assert!(status == 0 && said.contains("which the disc has now"), "{said}");
    assert!(fs::read(&path).unwrap() == data);
}

#[test]
fn a_lost_journal_fails_writes_and_flushes_and_keeps_the_count() {
    let place = Place::new();
    let Some((_small, disc, _)) = disc(&place) else { return };
    let Some(quick) = Small::mount(place.path("quick"), "16m") else { return };
    let tier = quick.0.join("tier");
    let server = start(&place, &disc, &tier, &["--durable-tier"]);
    let data = work(&server);
    let journal = File::options().write(true).open(quick.0.join("tier.journal")).unwrap();
    journal.set_len(0).unwrap();
    quick.fill();
    let mut client = server.client();
    assert_eq!(client.write(0, 0, &data[2 * CHUNK..3 * CHUNK]), Some(5));
    assert_eq!(client.flush(), Some(5));
    is_read(&server, &data);
    let (status, said) = server.end();
    assert_eq!(status, 1, "{said}");
    assert_eq!(said.matches("tier.journal has failed (").count(), 1, "{said}");
    assert!(said.contains("free some space on the file system of the journal)"), "{said}");
    assert!(said.contains("524288 bytes were acknowledged and are not on the disc"), "{said}");
}

#[test]
fn a_backend_server_without_zeros_and_trims_gets_what_the_journal_promised() {
    const TRIM: u16 = 4;
    const WRITE_ZEROES: u16 = 6;
    let place = Place::new();
    let path = place.path("disc.img");
    File::create(&path).unwrap().set_len(8 * MIB as u64).unwrap();
    let file = format!("file={}", path.display());
    let filters = ["--filter=error", "--filter=nozero"];
    let plugin = ["file", file.as_str(), "zeromode=none", "error-trim-rate=100%"];
    let kit = Nbdkit::start(place.path("kit"), &[&filters[..], &plugin].concat());
    let trusting = ["--durable-tier", "--tier-trust"];
    let server = start(&place, &kit.uri(), &place.path("tier"), &trusting);
    let mut data = work(&server);
    let mut client = server.client();
    for (kind, chunk) in [(WRITE_ZEROES, 0), (TRIM, 2)] {
        client.send(0, kind, (chunk * CHUNK) as u64, 64 << 10);
        assert_eq!(client.reply(), Some(0), "{kind}");
    }
    assert_eq!(client.flush(), Some(0));
    let (status, said) = server.end();
    assert_eq!(status, 0, "{said}");
    data[..CHUNK].fill(0);
    let seen = fs::read(&path).unwrap();
    // What is trimmed may be anything.
    assert!(seen[..2 * CHUNK] == data[..2 * CHUNK] && seen[3 * CHUNK..] == data[3 * CHUNK..]);
}
