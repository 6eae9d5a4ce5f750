//! What a sudo user can have root do: nothing. Each test plays a user who may call nbuf by `sudo`, or one who
//! may write a directory that it works in; root's files are files of the test that belong to root.

#[expect(dead_code, reason = "each test file uses a part of it")]
mod support;

use std::fs;
use std::mem::MaybeUninit;
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown, symlink};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use rustix::fs::inotify;
use support::{NBUF, Need, Place, is_alive, requires, requires_shared, until};

const NEEDS: [Need; 2] = [Need::Tracepoints, Need::Nobody];
/// The user id of the sudo user, `nobody`.
const SUDO_USER: u32 = 65534;

/// A place where the sudo user may write to `his`, and `roots` is root's.
fn place() -> Option<Place> {
    let place = Place::open_to_all()?;
    for (name, owner, mode) in [("his", SUDO_USER, 0o755), ("roots", 0, 0o755)] {
        fs::create_dir(place.path(name)).unwrap();
        chown(place.path(name), Some(owner), Some(owner)).unwrap();
        fs::set_permissions(place.path(name), fs::Permissions::from_mode(mode)).unwrap();
    }
    Some(place)
}

/// What root alone may read, with this in it.
fn secret(place: &Place, name: &str) -> std::path::PathBuf {
    let path = place.path(name);
    fs::write(&path, "secret\n").unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
    path
}

/// `nbuf`, called by `sudo`.
fn sudo<'a>(place: &Place, arguments: impl IntoIterator<Item = &'a str>) -> Command {
    let mut nbuf = place.nbuf(arguments);
    nbuf.env("SUDO_UID", SUDO_USER.to_string()).env("SUDO_GID", SUDO_USER.to_string());
    nbuf.env("XDG_STATE_HOME", place.path("his"));
    nbuf
}

fn words(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// Puts a link to `roots` in the place of `his`.
fn swap(place: &Place) {
    fs::rename(place.path("his"), place.path("was-his")).unwrap();
    symlink(place.path("roots"), place.path("his")).unwrap();
}

#[test]
fn outputs_are_made_with_the_sudo_users_rights() {
    let Some(_lock) = requires_shared(&NEEDS) else { return };
    let Some(place) = place() else { return };
    for option in ["--trace-out", "--html", "--svg"] {
        let sized = ["size", "-y", "--no-verify", option, "roots/file", "--", "true"];
        let output = sudo(&place, sized).output().unwrap();
        assert_eq!(output.status.code(), Some(125), "{option}: {output:?}");
        assert!(words(&output).contains("Permission denied"), "{output:?}");
    }
    let output = sudo(&place, ["record", "-o", "roots/file", "--", "true"]).output().unwrap();
    assert_eq!(output.status.code(), Some(125), "{output:?}");
    assert_eq!(fs::read_dir(place.path("roots")).unwrap().count(), 0);

    let output = sudo(&place, ["record", "-o", "his/t.parquet", "--", "cat", "/etc/passwd"]);
    let output = { output }.output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let made = fs::metadata(place.path("his/t.parquet")).unwrap();
    assert_eq!((made.uid(), made.gid(), made.mode() & 0o777), (SUDO_USER, SUDO_USER, 0o600));
    // What watches no command is the sudo user altogether.
    let verbs: [&[&str]; 3] = [
        &["trace", "generate", "zipf", "-o", "roots/file"],
        &["man", "roots"],
        &["writer", "-s", "512", "roots/file"],
    ];
    for verb in verbs {
        let output = sudo(&place, verb.iter().copied()).output().unwrap();
        assert!(!output.status.success(), "{verb:?}: {output:?}");
    }
    assert_eq!(fs::read_dir(place.path("roots")).unwrap().count(), 0);
}

#[test]
fn a_log_is_removed_where_it_was_made() {
    let Some(_lock) = requires_shared(&NEEDS) else { return };
    let Some(place) = place() else { return };
    let roots = secret(&place, "roots/t.parquet.log");
    let script = "while ! [ -e go ]; do sleep 0.01; done";
    let mut nbuf = sudo(&place, ["record", "-o", "his/t.parquet", "--", "sh", "-c", script]);
    let child = nbuf.stderr(Stdio::piped()).spawn().unwrap();
    until("the log is there", || place.path("his/t.parquet.log").exists());
    swap(&place);
    fs::write(place.path("go"), "").unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    assert_eq!(fs::read_to_string(&roots).unwrap(), "secret\n");
    assert_eq!(fs::read_dir(place.path("roots")).unwrap().count(), 1);
    assert!(place.path("was-his/t.parquet").exists());
    assert!(!place.path("was-his/t.parquet.log").exists());
}

#[test]
fn names_that_a_command_left_behind_are_not_opened_as_root() {
    let Some(_lock) = requires_shared(&NEEDS) else { return };
    let Some(place) = place() else { return };
    let roots = secret(&place, "roots/secret");
    let file = place.file("his/file", 1 << 20);
    chown(&file, Some(SUDO_USER), Some(SUDO_USER)).unwrap();
    let watch = inotify::init(inotify::CreateFlags::NONBLOCK).unwrap();
    inotify::add_watch(&watch, &roots, inotify::WatchFlags::OPEN).unwrap();
    let script = "cat his/file; sleep 0.3; rm his/file; ln -s ../roots/secret his/file";
    let output =
        sudo(&place, ["size", "-y", "-o", "-", "--", "sh", "-c", script]).output().unwrap();
    // The file of the first run is gone, and the link in its place tells nothing.
    assert!(matches!(output.status.code(), Some(0 | 1 | 3 | 4)), "{output:?}");
    assert!(String::from_utf8_lossy(&output.stdout).contains("Workload"), "{output:?}");
    let mut buffer = [MaybeUninit::uninit(); 1024];
    let mut events = inotify::Reader::new(&watch, &mut buffer);
    // The command itself may not open it.
    assert!(events.next().is_err(), "root's file was opened");
}

#[test]
fn a_private_disc_is_mounted_on_what_the_sudo_user_opened() {
    let needs = [Need::Tracepoints, Need::Nobody, Need::Loop, Need::Program("mkfs.ext4")];
    let Some(_lock) = requires_shared(&needs) else { return };
    let Some(place) = place() else { return };
    fs::write(place.path("his/ld.so.preload"), "/his/own.so\n").unwrap();
    let roots = place.path("roots").display().to_string();
    // The owner of the directory swaps it as soon as any process opens it.
    for wanted in 1..6 {
        let _ = fs::remove_file(place.path("his"));
        let _ = fs::rename(place.path("was-his"), place.path("his"));
        let watch = inotify::init(inotify::CreateFlags::empty()).unwrap();
        let seen = inotify::WatchFlags::OPEN | inotify::WatchFlags::ACCESS;
        inotify::add_watch(&watch, place.path("his"), seen).unwrap();
        let sized = ["size", "-y", "--no-verify", "--loop", "32MiB", "--data", "his", "--"];
        let script = format!("grep -c ' {roots} ' /proc/self/mountinfo; cat {roots}/ld.so.preload");
        let mut nbuf = sudo(&place, sized.into_iter().chain(["sh", "-c", &script]));
        let child = nbuf.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let mut buffer = [MaybeUninit::uninit(); 4096];
        let mut events = inotify::Reader::new(&watch, &mut buffer);
        for _ in 0..wanted {
            events.next().unwrap();
        }
        swap(&place);
        let output = child.wait_with_output().unwrap();
        let said = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(!said.contains("own.so"), "mounted over root's: {said}");
        assert!(!said.lines().any(|line| line == "1"), "mounted over root's: {said}");
        assert_eq!(fs::read_dir(place.path("roots")).unwrap().count(), 0);
    }
}

#[test]
fn a_private_disc_is_the_sudo_users_and_gives_no_rights() {
    let needs = [Need::Tracepoints, Need::Nobody, Need::Loop, Need::Program("mkfs.ext4")];
    let Some(_lock) = requires_shared(&needs) else { return };
    let Some(place) = place() else { return };
    let set_id = place.path("his/id");
    fs::copy("/usr/bin/id", &set_id).unwrap();
    fs::set_permissions(&set_id, fs::Permissions::from_mode(0o4755)).unwrap();
    let sized = ["size", "-y", "--no-verify", "--loop", "32MiB", "--data", "his", "--", "sh", "-c"];
    let script = "stat -c '%u %a' his his/id; his/id -u; grep ' /.*his ' /proc/self/mountinfo";
    let output = sudo(&place, sized.into_iter().chain([script])).output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    let lines: Vec<&str> = said.lines().collect();
    let user = SUDO_USER.to_string();
    assert_eq!(lines[..3], [format!("{user} 755"), format!("{user} 755"), user], "{said}");
    assert!(lines[3].contains("nosuid") && lines[3].contains("nodev"), "{said}");

    // What is not his to change he cannot have changed for the command, either.
    for (data, said) in [("roots", "where you may write"), ("/etc", "where you may write")] {
        let sized = ["size", "-y", "--no-verify", "--loop", "32MiB", "--data", data, "--", "true"];
        let output = sudo(&place, sized).output().unwrap();
        assert_eq!(output.status.code(), Some(125), "{data}: {output:?}");
        assert!(words(&output).contains(said), "{output:?}");
    }
    secret(&place, "his/secret");
    let sized = ["size", "-y", "--no-verify", "--loop", "32MiB", "--data", "his", "--", "true"];
    let output = sudo(&place, sized).output().unwrap();
    assert_eq!(output.status.code(), Some(125), "{output:?}");
    assert!(words(&output).contains("./secret: Permission denied"), "{output:?}");
    let output = sudo(&place, ["--as-root"].into_iter().chain(sized)).output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{output:?}");
}

#[test]
fn capabilities_of_the_file_open_no_file_of_others() {
    let needs = [Need::Tracepoints, Need::Nobody, Need::Program("setcap")];
    let Some(_lock) = requires_shared(&needs) else { return };
    let Some(place) = place() else { return };
    let roots = secret(&place, "roots/secret");
    let program = place.path("capable");
    fs::copy(NBUF, &program).unwrap();
    let set = "cap_perfmon,cap_sys_admin,cap_dac_read_search,cap_ipc_lock+ep";
    let done = Command::new("setcap").arg(set).arg(&program).status().unwrap();
    assert!(done.success());
    let run = |arguments: &[&str]| {
        let mut command = Command::new(&program);
        command.args(arguments).current_dir(place.path("his")).uid(SUDO_USER).gid(SUDO_USER);
        command.env("HOME", place.path("his")).output().unwrap()
    };
    let roots = roots.to_str().unwrap();
    let verbs: [&[&str]; 4] = [
        &["trace", "head", "--from", "blkparse", roots],
        &["curve", roots],
        &["size", "--trace", roots],
        &["size", "--compare", roots, roots],
    ];
    for verb in verbs {
        let output = run(verb);
        assert_eq!(output.status.code(), Some(125), "{verb:?}: {output:?}");
        let said = words(&output);
        assert!(said.contains("Permission denied") || said.contains("may not be read"), "{said}");
        assert!(!said.contains("secret\n"), "{said}");
    }
    // What the capabilities are for.
    let script = "cat /etc/passwd >/dev/null; grep CapEff /proc/self/status";
    let output = run(&["record", "--capture", "perf", "-o", "t.parquet", "--", "sh", "-c", script]);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    assert_eq!(String::from_utf8_lossy(&output.stdout), "CapEff:\t0000000000000000\n");
    let made = fs::metadata(place.path("his/t.parquet")).unwrap();
    assert_eq!((made.uid(), made.mode() & 0o777), (SUDO_USER, 0o600));
    let output =
        run(&["record", "-o", place.path("roots/t.parquet").to_str().unwrap(), "--", "true"]);
    assert_eq!(output.status.code(), Some(125), "{output:?}");
}

#[test]
fn who_called_is_known_or_nothing_runs() {
    let Some(_lock) = requires_shared(&NEEDS) else { return };
    let Some(place) = place() else { return };
    let ids = ["99999999999", " 1777", "", "-1", "4294967295", "65534x", "0x0"];
    for (name, id) in ["SUDO_UID", "SUDO_GID"].into_iter().flat_map(|n| ids.map(|id| (n, id))) {
        let mut nbuf = sudo(&place, ["record", "-o", "his/t.parquet", "--", "id", "-u"]);
        let output = nbuf.env(name, id).output().unwrap();
        assert_eq!(output.status.code(), Some(125), "{name}={id}: {output:?}");
        assert_eq!(words(&output).lines().count(), 1, "{name}={id}: {output:?}");
        assert!(words(&output).contains("--as-root") && output.stdout.is_empty(), "{output:?}");
    }
    let output = sudo(&place, ["--as-root", "record", "-o", "roots/t.parquet", "--", "id", "-u"]);
    let output = { output }.output().unwrap();
    assert_eq!(output.stdout, b"0\n", "{output:?}");
    assert_eq!(fs::metadata(place.path("roots/t.parquet")).unwrap().uid(), 0);
}

#[test]
fn set_id_programs_run_as_ever_but_under_system_call_capture() {
    let Some(_lock) = requires_shared(&NEEDS) else { return };
    let Some(place) = place() else { return };
    let set_id = place.path("id");
    fs::copy("/usr/bin/id", &set_id).unwrap();
    chown(&set_id, Some(7), Some(7)).unwrap();
    fs::set_permissions(&set_id, fs::Permissions::from_mode(0o4755)).unwrap();
    let script = "./id -u; grep NoNewPrivs /proc/self/status";
    for (capture, euid, no_new) in [("perf", "7", "0"), ("calls", "65534", "1")] {
        let name = format!("his/{capture}.parquet");
        let record = ["record", "--capture", capture, "-o", &name, "--", "sh", "-c", script];
        let output = sudo(&place, record).output().unwrap();
        let said = String::from_utf8_lossy(&output.stdout).into_owned();
        assert_eq!(said, format!("{euid}\nNoNewPrivs:\t{no_new}\n"), "{capture}: {output:?}");
    }
    // For root as well: what does not stop at its calls must not have more rights for it.
    let record = ["record", "--capture", "calls", "-o", "root.parquet", "--", "sh", "-c", script];
    let output = place.nbuf(record).output().unwrap();
    assert!(String::from_utf8_lossy(&output.stdout).contains("NoNewPrivs:\t1"), "{output:?}");
}

#[test]
fn the_broker_is_the_sudo_user_and_ends_with_us() {
    let Some(_lock) = requires(&NEEDS) else { return };
    let Some(place) = place() else { return };
    let script = "touch his/runs; sleep 1000";
    let mut nbuf = sudo(&place, ["record", "-o", "his/t.parquet", "--", "sh", "-c", script]);
    let mut child = nbuf.stderr(Stdio::null()).spawn().unwrap();
    until("the command runs", || place.path("his/runs").exists());
    let children = format!("/proc/{0}/task/{0}/children", child.id());
    let children = fs::read_to_string(children).unwrap();
    let status = |pid: &str| fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
    let is_sudo_users = |pid: &&str| status(pid).contains("Uid:\t65534\t65534\t65534\t65534");
    let brokers: Vec<&str> = children.split_whitespace().filter(is_sudo_users).collect();
    let [broker] = brokers[..] else { panic!("{children}: {brokers:?}") };
    let known = status(broker);
    for set in ["CapInh", "CapPrm", "CapEff", "CapAmb"] {
        assert!(known.contains(&format!("{set}:\t0000000000000000")), "{known}");
    }
    assert!(known.contains("Groups:\t65534 \n"), "{known}");
    // Not dumpable, so that the sudo user cannot trace it.
    assert_eq!(fs::metadata(format!("/proc/{broker}/fd")).unwrap().uid(), 0);
    let open = fs::read_dir(format!("/proc/{broker}/fd")).unwrap().count();
    assert_eq!(open, 1, "its socket");
    child.kill().unwrap();
    child.wait().unwrap();
    until("the broker is gone", || !is_alive(broker));
    let log = fs::metadata(place.path("his/t.parquet.log")).unwrap();
    assert_eq!((log.uid(), log.mode() & 0o777), (SUDO_USER, 0o600));
}

#[test]
fn a_second_recording_to_the_same_file_is_refused_while_the_first_runs() {
    let Some(_lock) = requires(&NEEDS) else { return };
    let place = Place::new();
    let record = ["record", "-o", "t.parquet", "--", "sh", "-c"];
    let mut nbuf = place.nbuf(record.into_iter().chain(["touch runs; sleep 1000"]));
    let mut child = nbuf.stderr(Stdio::null()).spawn().unwrap();
    until("the command runs", || place.path("runs").exists());
    let verbs: [&[&str]; 2] = [
        &["record", "-o", "t.parquet", "--", "true"],
        &["trace", "recover", "t.parquet.log", "-o", "u.parquet"],
    ];
    for verb in verbs {
        let output = place.nbuf(verb).output().unwrap();
        assert_eq!(output.status.code(), Some(125), "{output:?}");
        assert!(words(&output).contains("is being written by an"), "{output:?}");
        assert_eq!(words(&output).lines().count(), 1, "{output:?}");
    }
    child.kill().unwrap();
    child.wait().unwrap();
    let output = place.nbuf(["record", "-o", "t.parquet", "--", "true"]).output().unwrap();
    assert!(words(&output).contains("was left by a recording that broke off"), "{output:?}");
}

#[test]
fn a_trace_goes_to_a_descriptor() {
    let Some(_lock) = requires_shared(&NEEDS) else { return };
    let Some(place) = place() else { return };
    for name in ["/dev/fd/3", "/proc/self/fd/3"] {
        let script = format!("exec \"$0\" record -o {name} -- cat roots/file 3>his/out >/dev/null");
        place.file("roots/file", 1 << 16);
        let mut shell = Command::new("sh");
        shell.args(["-c", &script, NBUF]).current_dir(place.path("")).env_remove("SUDO_UID");
        shell.env("XDG_STATE_HOME", place.path("his"));
        let output = shell.output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{output:?}");
        let trace = fs::read(place.path("his/out")).unwrap();
        assert!(trace.starts_with(b"PAR1") && trace.ends_with(b"PAR1"));
    }
    let output = place.nbuf(["record", "-o", "/dev/fd/99", "--", "true"]).output().unwrap();
    assert_eq!(output.status.code(), Some(125));
    assert!(words(&output).contains("is not open ("), "{output:?}");
    assert!(!Path::new("/dev/fd/99").exists());
}
