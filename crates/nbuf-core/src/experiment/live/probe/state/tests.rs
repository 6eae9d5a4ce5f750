//! States of probes that were killed, over a directory of plain files that stands for a group of version 2.

use std::fs;
use std::os::fd::AsFd;
use std::os::unix::fs::PermissionsExt;

use proptest::prelude::*;

use super::*;

struct Place {
    group: tempfile::TempDir,
    spool: tempfile::TempDir,
}

/// A group of version 2 with this limit, and the state of a probe that had lowered it from none to 4 or 8 KiB.
fn place(now: &str) -> Place {
    let place = Place { group: tempfile::tempdir().unwrap(), spool: tempfile::tempdir().unwrap() };
    for (name, text) in [("memory.high", now), ("memory.current", "1"), ("memory.stat", "")] {
        fs::write(place.group.path().join(name), text).unwrap();
    }
    let probed = Probed::open(place.group.path(), None).unwrap();
    let file = StateFile::new(place.spool.path()).unwrap();
    file.write(&probed, place.group.path(), None, &[Bytes(8192), Bytes(4096)]).unwrap();
    place
}

impl Place {
    fn put_right(&self) -> Vec<Left> {
        put_right(self.spool.path(), rustix::process::getuid().as_raw())
    }

    fn high(&self) -> String {
        fs::read_to_string(self.group.path().join("memory.high")).unwrap().trim().to_owned()
    }

    fn states(&self) -> Vec<PathBuf> {
        fs::read_dir(self.spool.path()).unwrap().map(|entry| entry.unwrap().path()).collect()
    }
}

#[test]
fn a_limit_that_is_ours_is_put_back_and_another_is_left_alone() {
    let ours = place("4096\n");
    assert!(matches!(ours.put_right()[..], [Left::Restored { from: Bytes(4096), to: None, .. }]));
    assert_eq!((ours.high().as_str(), ours.states().len()), ("max", 0));
    let other = place("12288\n");
    assert!(matches!(other.put_right()[..], [Left::NotOurs { found: Some(Bytes(12288)), .. }]));
    assert_eq!((other.high().as_str(), other.states().len()), ("12288", 0));
    let before = place("max\n");
    assert!(before.put_right().is_empty() && before.states().is_empty());
}

#[test]
fn a_group_that_is_probed_now_is_left_alone() {
    let place = place("4096");
    let probed = Probed::open(place.group.path(), None).unwrap();
    assert!(matches!(place.put_right()[..], [Left::Failed { error: Error::Busy, .. }]));
    assert_eq!((place.high().as_str(), place.states().len()), ("4096", 1));
    drop(probed);
    assert_eq!(place.put_right().len(), 1);
}

#[test]
fn a_state_that_others_may_have_written_is_not_used() {
    let place = place("4096");
    let [state] = &place.states()[..] else { panic!() };
    fs::set_permissions(state, fs::Permissions::from_mode(0o622)).unwrap();
    assert!(place.put_right().is_empty());
    fs::set_permissions(state, fs::Permissions::from_mode(0o600)).unwrap();
    assert!(put_right(place.spool.path(), 12_345).is_empty());
    assert_eq!((place.high().as_str(), place.states().len()), ("4096", 1));
    // Nor one that a link leads to.
    fs::rename(state, place.spool.path().join("moved")).unwrap();
    std::os::unix::fs::symlink(place.spool.path().join("moved"), state).unwrap();
    assert!(place.put_right().is_empty());
    assert_eq!(place.high(), "4096");
}

#[test]
fn a_group_that_is_gone_or_was_made_again_needs_nothing() {
    let gone = place("4096");
    fs::remove_dir_all(gone.group.path()).unwrap();
    assert!(gone.put_right().is_empty() && gone.states().is_empty());
    let again = place("4096");
    let [path] = &again.states()[..] else { panic!() };
    let state = parse(&fs::read_to_string(path).unwrap()).unwrap();
    let inode = state.inode + 1;
    fs::write(path, serde_json::to_vec(&State { inode, ..state.clone() }).unwrap()).unwrap();
    assert!(again.put_right().is_empty() && again.states().is_empty());
    assert_eq!(again.high(), "4096");
    // Another machine has its own, and what is of another boot needs nothing.
    let node = "another".to_owned();
    fs::write(path, serde_json::to_vec(&State { node, ..state.clone() }).unwrap()).unwrap();
    fs::set_permissions(path, fs::Permissions::from_mode(0o600)).unwrap();
    assert!(again.put_right().is_empty() && again.states().len() == 1);
    let boot = "another".to_owned();
    fs::write(path, serde_json::to_vec(&State { boot, ..state }).unwrap()).unwrap();
    fs::set_permissions(path, fs::Permissions::from_mode(0o600)).unwrap();
    assert!(again.put_right().is_empty() && again.states().is_empty());
    assert_eq!(again.high(), "4096");
}

#[test]
fn a_guard_removes_the_state_of_a_probe_that_died() {
    let place = place("4096");
    let probed = Probed::open(place.group.path(), None).unwrap();
    let [path] = &place.states()[..] else { panic!() };
    let name = path.file_name().unwrap().to_string_lossy().into_owned();
    let file = StateFile { directory: files::directory(place.spool.path()).unwrap(), name };
    let kept = Some((file.directory.as_fd(), file.c_name().unwrap()));
    drop(probed.guard(None, &[Bytes(4096)], kept).unwrap());
    assert_eq!((place.high().as_str(), place.states().len()), ("max", 0));
}

proptest! {
    #[test]
    fn no_text_makes_a_state_panic(text in "\\PC*") {
        prop_assert!(parse(&text).is_none());
    }

    #[test]
    fn a_state_is_read_as_it_was_written(
        before in proptest::option::of(any::<u64>()),
        ours in proptest::collection::vec(any::<u64>(), 0..5),
        device: u64,
        inode: u64,
    ) {
        let state = State {
            schema: SCHEMA.to_owned(),
            node: "n".to_owned(),
            boot: "b".to_owned(),
            directory: "/x y/ü".into(),
            device,
            inode,
            file: "memory.high".to_owned(),
            before: before.map(Bytes),
            ours: ours.into_iter().map(Bytes).collect(),
        };
        prop_assert_eq!(parse(&serde_json::to_string(&state).unwrap()), Some(state));
    }
}
