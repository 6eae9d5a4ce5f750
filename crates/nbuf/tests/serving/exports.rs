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
fn named(socket: &Path, name: &str) -> Option<Client> {
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

fn stats(place: &Place) -> Value {
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
        let dirty = output("nbdinfo", &["--map=nbuf:dirty", &uri]);
        assert!(dirty.lines().count() > 1, "{dirty}");
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
