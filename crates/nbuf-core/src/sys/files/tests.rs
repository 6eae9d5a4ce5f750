//! Calls made here, in this process: those of a broker are tried as root, in `tests/broker.rs`.

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};

use super::*;

#[test]
fn only_regular_files_of_real_file_systems_are_opened() {
    let place = tempfile::tempdir().unwrap();
    let at = |name: &str| place.path().join(name);
    fs::write(at("file"), "text").unwrap();
    symlink("file", at("link")).unwrap();
    symlink("/dev/zero", at("zero")).unwrap();
    symlink("/proc/self/status", at("status")).unwrap();
    for name in ["file", "link"] {
        assert_eq!(io::read_to_string(regular(&at(name)).unwrap()).unwrap(), "text");
    }
    for (path, said) in [
        (at("zero"), "it is no regular file"),
        (at("."), "it is no regular file"),
        (at("status"), "it is a file of the kernel's (proc)"),
    ] {
        assert_eq!(regular(&path).unwrap_err().to_string(), said, "{}", path.display());
    }
    assert_eq!(regular(&at("none")).unwrap_err().kind(), io::ErrorKind::NotFound);
}

#[test]
fn a_path_leads_to_a_file_until_another_one_has_its_name() {
    let place = tempfile::tempdir().unwrap();
    let (path, link) = (place.path().join("a"), place.path().join("link"));
    fs::write(&path, "one").unwrap();
    symlink(&path, &link).unwrap();
    let file = regular(&path).unwrap();
    assert!(leads_to(&path, &file).unwrap() && leads_to(&link, &file).unwrap());
    fs::remove_file(&path).unwrap();
    assert!(!leads_to(&path, &file).unwrap() && !leads_to(&link, &file).unwrap());
    fs::write(&path, "other").unwrap();
    assert!(!leads_to(&path, &file).unwrap());
}

#[test]
fn a_place_stays_when_its_path_leads_elsewhere() {
    let place = tempfile::tempdir().unwrap();
    let at = |name: &str| place.path().join(name);
    fs::create_dir(at("kept")).unwrap();
    fs::create_dir(at("other")).unwrap();
    symlink(at("kept"), at("way")).unwrap();
    let kept = Place::of(&at("way/name")).unwrap();
    fs::remove_file(at("way")).unwrap();
    symlink(at("other"), at("way")).unwrap();
    assert!(!kept.is_taken().unwrap());
    let flags = OFlags::CREATE | OFlags::EXCL | OFlags::WRONLY;
    let mode = Mode::from_raw_mode(0o600);
    let file: File = open(kept.directory(), Path::new("name"), flags, mode).unwrap().into();
    assert!(kept.is_taken().unwrap() && at("kept/name").exists() && !at("other/name").exists());
    let beside = kept.beside(".log").unwrap();
    assert_eq!((beside.name(), beside.path()), (OsStr::new("name.log"), &*at("way/name.log")));
    // Another file by its name is none of ours.
    fs::remove_file(at("kept/name")).unwrap();
    fs::write(at("kept/name"), "theirs").unwrap();
    assert!(kept.remove(&file).is_err() && at("kept/name").exists());
    for path in ["/", "a/", "", "."] {
        assert!(Place::of(Path::new(path)).is_err(), "{path}");
    }
}

#[test]
fn a_copy_has_all_but_what_gives_rights() {
    let place = tempfile::tempdir().unwrap();
    let at = |name: &str| place.path().join(name);
    for name in ["from", "from/below", "to"] {
        fs::create_dir(at(name)).unwrap();
    }
    fs::write(at("from/below/file"), vec![7; 3 << 20]).unwrap();
    fs::hard_link(at("from/below/file"), at("from/twin")).unwrap();
    fs::write(at("from/set"), "#!").unwrap();
    fs::set_permissions(at("from/set"), fs::Permissions::from_mode(0o6755)).unwrap();
    symlink("/etc", at("from/link")).unwrap();
    let sparse = File::create(at("from/sparse")).unwrap();
    sparse.set_len(1 << 30).unwrap();
    drop(std::os::unix::net::UnixListener::bind(at("from/socket")).unwrap());
    let old = fs::metadata(at("from/below/file")).unwrap();
    copy_below(directory(&at("from")).unwrap(), directory(&at("to")).unwrap()).unwrap();
    let (file, twin) =
        (fs::metadata(at("to/below/file")).unwrap(), fs::metadata(at("to/twin")).unwrap());
    assert_eq!(fs::read(at("to/twin")).unwrap(), vec![7; 3 << 20]);
    assert_eq!((file.ino(), file.nlink()), (twin.ino(), 2));
    assert_eq!(file.modified().unwrap(), old.modified().unwrap());
    assert_eq!(fs::metadata(at("to/set")).unwrap().mode() & 0o7777, 0o755);
    assert_eq!(fs::read_link(at("to/link")).unwrap(), Path::new("/etc"));
    let sparse = fs::metadata(at("to/sparse")).unwrap();
    assert!(sparse.len() == 1 << 30 && sparse.blocks() < 1 << 11, "{sparse:?}");
    assert!(!at("to/socket").exists());
}

#[test]
fn an_error_of_a_copy_names_the_file() {
    let place = tempfile::tempdir().unwrap();
    let from = place.path().join("from");
    fs::create_dir_all(from.join("a/b")).unwrap();
    fs::write(from.join("a/b/file"), "text").unwrap();
    let to = place.path().join("to");
    fs::create_dir_all(to.join("a")).unwrap();
    let error = copy_below(directory(&from).unwrap(), directory(&to).unwrap()).unwrap_err();
    assert_eq!(error.to_string(), "./a: File exists (os error 17)");
}
