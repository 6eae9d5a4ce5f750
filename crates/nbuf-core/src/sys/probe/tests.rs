//! A group of version 2 as a directory of plain files, and guards over such a file.

use std::fs;

use super::*;

/// The files of a group of version 2.
fn group() -> tempfile::TempDir {
    let place = tempfile::tempdir().unwrap();
    for (name, text) in [
        ("memory.high", "max\n"),
        ("memory.max", "max\n"),
        ("memory.current", "200000\n"),
        ("memory.stat", "anon 1000\nfile 190000\nshmem 0\nkernel 10\nworkingset_refault_file 3\n"),
        ("memory.events", "low 0\noom_kill 0\n"),
        ("memory.reclaim", ""),
        ("memory.pressure", "some avg10=0.00 avg60=0.00 avg300=0.00 total=5\n"),
        ("io.pressure", "some avg10=0.00 avg60=0.00 avg300=0.00 total=9\n"),
    ] {
        fs::write(place.path().join(name), text).unwrap();
    }
    place
}

#[test]
fn version_2_is_reclaimed_from_and_has_its_high_mark_lowered() {
    let place = group();
    let probed = Probed::open(place.path(), None).unwrap();
    assert_eq!((probed.version(), probed.pressure_of()), (Version::V2, PressureOf::Group));
    assert_eq!(probed.limit().unwrap(), None);
    assert!(probed.reclaim(Bytes(8192)).unwrap());
    probed.set(Some(Bytes(40_960))).unwrap();
    assert_eq!(probed.limit().unwrap(), Some(Bytes(40_960)));
    let read = |name: &str| fs::read_to_string(place.path().join(name)).unwrap();
    assert_eq!((read("memory.reclaim").as_str(), read("memory.max").as_str()), ("8192", "max\n"));
    let look = probed.look().unwrap();
    assert_eq!((look.usage, look.cache, look.other), (Bytes(200_000), Bytes(190_000), Bytes(1010)));
    assert_eq!((look.memory_some_ns, look.io_some_ns, look.refaults), (5000, 9000, 3));
    probed.set(None).unwrap();
    assert_eq!(read("memory.high"), "max");
}

#[test]
fn one_probe_excludes_another() {
    let place = group();
    let first = Probed::open(place.path(), None).unwrap();
    assert!(matches!(Probed::open(place.path(), None), Err(Error::Busy)));
    drop(first);
    Probed::open(place.path(), None).unwrap();
    let empty = tempfile::tempdir().unwrap();
    assert!(matches!(Probed::open(empty.path(), None), Err(Error::NoLimit)));
}

#[test]
fn a_guard_puts_back_what_is_ours_and_nothing_else() {
    for (now, want) in [("4096", "max"), ("8192\n", "max"), ("12288", "12288"), ("max", "max")] {
        let place = group();
        let high = place.path().join("memory.high");
        fs::write(place.path().join("state"), "x").unwrap();
        let probed = Probed::open(place.path(), None).unwrap();
        let directory = files::directory(place.path()).unwrap();
        let state = Some((directory.as_fd(), CString::new("state").unwrap()));
        let guard = probed.guard(None, &[Bytes(4096), Bytes(8192)], state).unwrap();
        fs::write(&high, now).unwrap();
        guard.beat();
        drop(guard);
        assert_eq!(fs::read_to_string(&high).unwrap().trim(), want, "{now}");
        assert!(!place.path().join("state").exists());
    }
}
