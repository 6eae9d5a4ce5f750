//! Several discs of one server: by name only, each with a cache of its own.

use std::fs;
use std::io::{Read, Write};
use std::path::Path;
use std::process::Stdio;

use serde_json::Value;

use super::{Client, Server};
use crate::support::{Place, until};
use crate::{MIB, has, output};

/// Connects to an export; nothing if the server does not have it.
pub(super) fn named(socket: &Path, name: &str) -> Option<Client> {
    let mut client = Client::raw(socket);
    client.0.read_exact(&mut [0; 18]).unwrap();
    let length = u32::try_from(name.len()).unwrap().to_be_bytes();
    let option = [b"\0\0\0\x03IHAVEOPT\0\0\0\x01", &length[..], name.as_bytes()].concat();
    client.0.write_all(&option).unwrap();
    client.0.read_exact(&mut [0; 10]).ok().map(|()| client)
}

/// A server of two discs with other bytes.
fn start(place: &Place, options: &[&str]) -> Server {
    for (name, value) in [("a.img", 1), ("b.img", 2)] {
        fs::write(place.path(name), vec![value; MIB]).unwrap();
    }
    let socket = place.path("socket");
    let mut command = place.nbuf(["serve", "--socket", "socket"]);
    command.args(options).stderr(Stdio::piped());
    Server::spawn(command, socket)
}

pub(super) fn stats(place: &Place) -> Value {
    let output = place.nbuf(["serve", "stats", "socket", "--json"]).output().unwrap();
    serde_json::from_slice(&output.stdout).unwrap()
}

#[test]
fn discs_are_served_by_name_and_counted_apart() {
    let place = Place::new();
    let exports = ["--export", "a=file:a.img", "--export", "b=file:b.img"];
    let options = [&exports[..], &["--size", "256KiB", "--write", "back"]].concat();
    let server = start(&place, &options);
    assert!(named(&server.socket, "").is_none() && named(&server.socket, "c").is_none());
    let [mut a, mut b] = ["a", "b"].map(|name| named(&server.socket, name).unwrap());
    for _ in 0..3 {
        assert_eq!(a.read(4096, 4096).unwrap(), [1; 4096]);
    }
    assert_eq!(b.read(4096, 4096).unwrap(), [2; 4096]);
    assert_eq!((a.write(0, 0, &[3; 512]), b.write(0, 512, &[4; 512])), (Some(0), Some(0)));
    assert_eq!((a.read(0, 512).unwrap(), b.read(0, 512).unwrap()), (vec![3; 512], vec![2; 512]));
    let seen = stats(&place);
    let [first, second] = [0, 1].map(|at| &seen["exports"][at]);
    assert_eq!(
        (&seen["reads"], &first["reads"], &second["reads"]),
        (&6.into(), &4.into(), &2.into())
    );
    assert_eq!((&first["name"], &second["clients"]), (&"a".into(), &1.into()));
    assert_eq!((&seen["clients"], &seen["cache_bytes"]), (&2.into(), &(512 << 10).into()));
    let ask = |arguments: &[&str]| {
        let output = place.nbuf(["serve"]).args(arguments).output().unwrap();
        (output.status.code(), String::from_utf8(output.stderr).unwrap())
    };
    let (status, said) = ask(&["resize", "socket", "1MiB"]);
    assert!(status == Some(125) && said.contains("give one of a, b"), "{said}");
    assert_eq!(ask(&["resize", "socket", "1MiB", "--export", "b"]).0, Some(0));
    assert_eq!(ask(&["policy", "socket", "lru", "--export", "a"]).0, Some(0));
    let seen = stats(&place);
    let [first, second] = [0, 1].map(|at| &seen["exports"][at]);
    assert_eq!((&first["policy"], &first["cache_bytes"]), (&"lru".into(), &(256 << 10).into()));
    assert_eq!((&second["policy"], &second["cache_bytes"]), (&"s3-fifo".into(), &MIB.into()));
    // More than there is of memory is refused, and the server serves on.
    let (status, said) = ask(&["resize", "socket", "8TiB", "--export", "a"]);
    assert!(status == Some(125) && said.contains("of memory is available"), "{said}");
    assert_eq!(&stats(&place)["exports"][0]["cache_bytes"], &(256 << 10));
    let (status, said) = ask(&["--disc", "file:a.img", "--size", "8TiB", "--socket", "other"]);
    assert!(status == Some(125) && said.contains("of memory is available"), "{said}");
    // What is dirty on both is written at the end.
    assert_eq!((a.write(0, 8192, &[5; 512]), b.write(0, 8192, &[6; 512])), (Some(0), Some(0)));
    if has(&["nbdinfo"]) {
        let list = output("nbdinfo", &["--list", &server.uri()]);
        assert!(list.contains("export=\"a\"") && list.contains("export=\"b\""), "{list}");
        let uri = format!("nbd+unix:///b?socket={}", server.socket.display());
        // What is dirty is written after a second.
        until("a page is dirty", || {
            assert_eq!(b.write(0, 8192, &[6; 512]), Some(0));
            output("nbdinfo", &["--map=nbuf:dirty", &uri]).lines().count() > 1
        });
    }
    drop((a, b));
    assert_eq!(server.end().0, 0);
    let [a, b] = ["a.img", "b.img"].map(|name| fs::read(place.path(name)).unwrap());
    assert_eq!((&a[8192..8704], &b[8192..8704]), (&[5; 512][..], &[6; 512][..]));
    assert!(a[..512] == [3; 512] && b[512..1024] == [4; 512]);
}

#[test]
fn a_file_names_exports_and_a_signal_changes_one() {
    let place = Place::new();
    let write = |size: &str| {
        let text = format!(
            "size = '256KiB'\n[[export]]\nname = 'a'\ndisc = 'file:a.img'\n\
             [[export]]\nname = 'b'\ndisc = 'file:b.img'\nsize = '{size}'\nread-only = true\n"
        );
        fs::write(place.path("discs.toml"), text).unwrap();
    };
    write("64KiB");
    let server = start(&place, &["--config", "discs.toml"]);
    let mut b = named(&server.socket, "b").unwrap();
    assert_eq!(b.write(0, 0, &[1; 512]), Some(1), "it is only read");
    write("128KiB");
    server.signal(libc::SIGHUP);
    let size = || stats(&place)["exports"][1]["cache_bytes"].as_u64();
    until("it is larger", || size() == Some(128 << 10));
    assert_eq!(b.read(0, 512).unwrap(), [2; 512]);
    drop(b);
    let (status, said) = server.end();
    assert!(status == 0 && said.contains("size of b was 64.0 KiB and is 128 KiB"), "{said}");
    assert_eq!(said.lines().count(), 1, "{said}");
}

#[test]
fn a_file_in_another_order_changes_no_other_export() {
    let place = Place::new();
    let write = |names: &[(&str, &str)]| {
        let export = |(name, size): &(&str, &str)| {
            format!("[[export]]\nname = '{name}'\ndisc = 'file:{name}.img'\nsize = '{size}'\n")
        };
        let exports: Vec<String> = names.iter().map(export).collect();
        fs::write(place.path("discs.toml"), exports.concat()).unwrap();
    };
    write(&[("a", "64KiB"), ("b", "128KiB")]);
    let server = start(&place, &["--config", "discs.toml"]);
    let sizes = || {
        let seen = stats(&place);
        [0, 1].map(|at| seen["exports"][at]["cache_bytes"].as_u64().unwrap() >> 10)
    };
    write(&[("b", "128KiB"), ("a", "256KiB")]);
    server.signal(libc::SIGHUP);
    until("a is larger", || sizes()[0] == 256);
    assert_eq!(sizes(), [256, 128]);
    // The other one takes no place of an export that is not named.
    write(&[("c", "32KiB"), ("b", "512KiB")]);
    server.signal(libc::SIGHUP);
    until("b is larger", || sizes()[1] == 512);
    assert_eq!(sizes(), [256, 512]);
    let (status, said) = server.end();
    let lines: Vec<&str> = said.lines().collect();
    let wanted = [
        "nbuf: config: size of a was 64.0 KiB and is 256 KiB",
        "nbuf: config: the export a is missing, and is served as before until the server is started again",
        "nbuf: config: the export c is new, and is served when the server is started again",
        "nbuf: config: size of b was 128 KiB and is 512 KiB",
    ];
    assert_eq!((status, &lines[..]), (0, &wanted[..]));
}

#[test]
fn a_disc_is_served_once_unless_it_is_only_read() {
    let place = Place::new();
    fs::write(place.path("a.img"), vec![1; MIB]).unwrap();
    fs::hard_link(place.path("a.img"), place.path("same.img")).unwrap();
    let serve = |options: &[&str]| {
        let mut command = place.nbuf(["serve", "--size", "64KiB", "--socket", "socket"]);
        command.args(["--export", "a=file:a.img", "--export", "b=file:same.img"]).args(options);
        command
    };
    for options in [&[][..], &["--check-config"]] {
        let output = serve(options).output().unwrap();
        let said = String::from_utf8(output.stderr).unwrap();
        assert!(!output.status.success(), "{options:?}");
        assert!(said.contains("`a` and `b` have one disc") && said.lines().count() == 1, "{said}");
    }
    let mut command = serve(&["--read-only"]);
    command.stderr(Stdio::piped());
    let server = Server::spawn(command, place.path("socket"));
    assert_eq!(named(&server.socket, "b").unwrap().read(0, 512).unwrap(), [1; 512]);
    assert_eq!(server.end().0, 0);
}

/// A server whose disc `b` does not answer, and the program behind it.
fn hanging(place: &Place) -> (Server, Server) {
    fs::write(place.path("backend.img"), vec![7; MIB]).unwrap();
    let mut command = place.nbuf(["serve", "--disc", "file:backend.img", "--size", "64KiB"]);
    command.args(["--socket", "backend"]).stderr(Stdio::piped());
    let backend = Server::spawn(command, place.path("backend"));
    let exports = ["--export", "a=file:a.img", "--export", "b=nbd:unix:backend"];
    let server = start(place, &[&exports[..], &["--size", "256KiB", "--write", "back"]].concat());
    (backend, server)
}

#[test]
fn what_a_client_sent_before_it_closed_is_done_after_a_quiet_time() {
    let place = Place::new();
    let (backend, server) = hanging(&place);
    let [mut other, mut client] = ["b", "b"].map(|name| named(&server.socket, name).unwrap());
    assert_eq!(client.write(0, 0, &[8; 512]), Some(0));
    backend.signal(libc::SIGSTOP);
    other.send(0, super::READ, 65536, 512);
    until("b waits for its disc", || stats(&place)["exports"][1]["reads"] == 1);
    let mut resize = place.nbuf(["serve", "resize", "socket", "1MiB", "--export", "b"]);
    let mut resize = resize.spawn().unwrap();
    // Nothing shows that it waits, but that it does not end.
    std::thread::sleep(std::time::Duration::from_secs(1));
    // More than a page for each, and more than one read of the socket brings.
    for page in 0..24_u8 {
        client.send(0, super::WRITE, 4096 * u64::from(page), 4096);
        client.0.write_all(&[page + 100; 4096]).unwrap();
    }
    drop(client);
    std::thread::sleep(std::time::Duration::from_millis(300));
    backend.signal(libc::SIGCONT);
    assert!(resize.wait().unwrap().success());
    until("they are written", || stats(&place)["exports"][1]["writes"] == 25);
    until("the client is gone", || stats(&place)["clients"] == 1);
    assert_eq!(other.reply(), Some(0));
    drop(other);
    let mut again = named(&server.socket, "b").unwrap();
    for page in 0..24_u8 {
        assert_eq!(again.read(4096 * u64::from(page), 4096).unwrap(), [page + 100; 4096]);
    }
    assert_eq!(server.end().0, 0);
    assert_eq!(fs::read(place.path("backend.img")).unwrap()[4096 * 23..4096 * 24], [123; 4096]);
}

#[test]
fn a_server_that_drains_for_a_control_client_waits_for_its_disc_until_a_second_signal() {
    let place = Place::new();
    let (backend, mut server) = hanging(&place);
    let mut client = named(&server.socket, "b").unwrap();
    assert_eq!(client.write(0, 0, &[9; 512]), Some(0));
    backend.signal(libc::SIGSTOP);
    let drain = place.nbuf(["serve", "drain", "socket"]).output().unwrap();
    assert!(drain.status.success(), "{drain:?}");
    std::thread::sleep(std::time::Duration::from_millis(300));
    assert!(server.child.try_wait().unwrap().is_none(), "it waits for its disc");
    // A manager of services sends one signal behind its own command to stop.
    server.signal(libc::SIGTERM);
    std::thread::sleep(std::time::Duration::from_millis(300));
    assert!(server.child.try_wait().unwrap().is_none(), "it still waits for its disc");
    server.signal(libc::SIGTERM);
    assert_eq!(server.child.wait().unwrap().code(), Some(1));
    let mut said = String::new();
    server.child.stderr.take().unwrap().read_to_string(&mut said).unwrap();
    assert!(said.contains("512 bytes were acknowledged"), "{said}");
    backend.signal(libc::SIGCONT);
}

#[test]
fn a_disc_that_hangs_holds_up_its_own_clients_alone() {
    let place = Place::new();
    let (backend, mut server) = hanging(&place);
    let [mut a, mut b] = ["a", "b"].map(|name| named(&server.socket, name).unwrap());
    assert_eq!(b.write(0, 0, &[8; 512]), Some(0));
    backend.signal(libc::SIGSTOP);
    b.send(0, super::READ, 65536, 512);
    until("b waits for its disc", || stats(&place)["exports"][1]["reads"] == 1);
    let mut resize = place.nbuf(["serve", "resize", "socket", "1MiB", "--export", "b"]);
    let mut resize = resize.spawn().unwrap();
    // Nothing shows that it waits, but that it does not end.
    std::thread::sleep(std::time::Duration::from_secs(1));
    assert_eq!(a.read(0, 512).unwrap(), [1; 512]);
    assert_eq!(named(&server.socket, "a").unwrap().read(4096, 512).unwrap(), [1; 512]);
    assert_eq!(resize.try_wait().unwrap(), None);
    backend.signal(libc::SIGCONT);
    assert!(resize.wait().unwrap().success());
    assert_eq!(b.reply(), Some(0));
    b.0.read_exact(&mut [0; 512]).unwrap();

    // At the end a is flushed, though b never answers.
    assert_eq!((a.write(0, 0, &[9; 512]), b.write(0, 0, &[9; 512])), (Some(0), Some(0)));
    backend.signal(libc::SIGSTOP);
    b.send(0, super::READ, 128 << 10, 512);
    until("b waits again", || stats(&place)["exports"][1]["reads"] == 2);
    server.signal(libc::SIGTERM);
    until("a is flushed", || stats(&place)["exports"][0]["disc_flushes"] != 0);
    assert_eq!(fs::read(place.path("a.img")).unwrap()[..512], [9; 512]);
    std::thread::sleep(std::time::Duration::from_millis(200));
    assert!(server.child.try_wait().unwrap().is_none());
    server.signal(libc::SIGTERM);
    let status = server.child.wait().unwrap();
    let mut said = String::new();
    server.child.stderr.take().unwrap().read_to_string(&mut said).unwrap();
    assert!(
        said.contains("512 bytes were acknowledged") && said.contains("before b was"),
        "{said}"
    );
    assert_eq!(status.code(), Some(1), "{said}");
    backend.signal(libc::SIGCONT);
}
