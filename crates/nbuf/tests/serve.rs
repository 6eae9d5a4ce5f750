//! `nbuf serve` with real clients, real discs, and clients that behave badly.

mod serving;
#[expect(dead_code, reason = "shared with tests that need more of it")]
mod support;

use std::fs;
use std::io::Write;
use std::process::Command;
use std::time::{Duration, Instant};

use serving::{Client, Nbdkit, READ, Server, WRITE};
use support::{Need, Place, missing, skip};

const MIB: usize = 1 << 20;

fn has(programs: &[&'static str]) -> bool {
    let absent = programs.iter().find_map(|program| missing(Need::Program(program)));
    absent.inspect(|reason| skip(reason)).is_none()
}

fn output(program: &str, arguments: &[&str]) -> String {
    let output = Command::new(program).args(arguments).output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{program} {arguments:?}: {output:?}");
    text
}

/// A disc with other bytes in each page.
fn image(place: &Place, bytes: usize) -> (String, Vec<u8>) {
    let page = |page: usize| vec![u8::try_from(page % 251).unwrap(); 4096];
    let data: Vec<u8> = (0..bytes.div_ceil(4096)).flat_map(page).take(bytes).collect();
    let path = place.path("disc.img");
    fs::write(&path, &data).unwrap();
    (format!("file:{}", path.display()), data)
}

#[test]
fn the_clients_of_others_are_served() {
    if !has(&["nbdinfo", "nbdcopy", "qemu-io"]) {
        return;
    }
    let place = Place::new();
    let (disc, data) = image(&place, 8 * MIB + 512);
    let server = Server::start(&place, &disc, &["--size", "2MiB", "--write", "back"]);
    let uri = server.uri();
    let info = output("nbdinfo", &[&uri]);
    for line in ["export-size: 8389120", "can_multi_conn: true", "can_fua: true", "can_zero: true"]
    {
        assert!(info.contains(line), "{line}: {info}");
    }
    assert!(output("nbdinfo", &["--list", &uri]).contains("nbuf:dirty"));
    let copy = place.path("copy");
    output("nbdcopy", &[&uri, copy.to_str().unwrap()]);
    assert!(fs::read(&copy).unwrap() == data);
    output("qemu-io", &["-t", "none", "-f", "raw", "-c", "write -P 7 4096 8192", &uri]);
    output(
        "qemu-io",
        &["-f", "raw", "-c", "read -P 7 4096 8192", "-c", "read -P 3 12288 512", &uri],
    );
    output("qemu-io", &["-f", "raw", "-c", "write -z 0 4096", "-c", "discard 8192 4096", &uri]);
    let cached = output("nbdinfo", &["--map=nbuf:cached", &uri]);
    assert!(cached.lines().count() > 1, "{cached}");
    let dirty = output("nbdinfo", &["--map=nbuf:dirty", &uri]);
    assert!(dirty.contains("8389120"), "{dirty}");
    assert_eq!(server.end().0, 0);
    let after = fs::read(place.path("disc.img")).unwrap();
    assert!(after[..4096] == [0; 4096] && after[4096..8192] == [7; 4096]);
}

/// A miss is answered when the disc has it, not when the clock is looked at next.
#[expect(clippy::disallowed_methods, reason = "four times a second would be the end of it")]
#[test]
fn a_client_that_waits_for_each_miss_is_not_kept_waiting() {
    let place = Place::new();
    let (disc, data) = image(&place, 16 * MIB);
    let server = Server::start(&place, &disc, &["--size", "64KiB"]);
    let mut client = server.client();
    let begun = Instant::now();
    for page in 0..4096_usize {
        let got = client.read(page as u64 * 4096, 4096).unwrap();
        assert!(got == data[page * 4096..][..4096], "page {page}");
    }
    assert!(begun.elapsed() < Duration::from_secs(20), "{:?}", begun.elapsed());
    drop(client);
    assert_eq!(server.end().0, 0);
}

#[expect(clippy::disallowed_methods, reason = "a refusal has a deadline")]
#[test]
fn a_server_that_cannot_write_says_how_much_is_lost() {
    if !has(&["nbdkit"]) {
        return;
    }
    let place = Place::new();
    let disc = place.path("slow.img");
    fs::write(&disc, vec![0; 4 * MIB]).unwrap();
    let file = disc.to_str().unwrap();
    let errors = ["--filter=error", "file", file, "error-pwrite=EIO", "error-pwrite-rate=100%"];
    let nbdkit = Nbdkit::start(place.path("backend"), &errors);
    let name = format!("nbd:unix:{}", nbdkit.socket.display());
    let server = Server::start(&place, &name, &["--size", "1MiB", "--write", "back"]);
    let mut client = server.client();
    assert_eq!(client.write(0, 8192, &[1; 4096]), Some(0));
    assert_eq!(client.flush(), Some(5), "an I/O error");
    let size = place.nbuf(["size", "--server", "socket"]).output().unwrap();
    let said = String::from_utf8(size.stdout).unwrap();
    assert!(said.contains("The disc refused ") && said.contains("Look at the disc"), "{said}");
    for option in ["-y", "--memory=1GiB"] {
        let size = place.nbuf(["size", "--server", "socket", option]).output().unwrap();
        let said = String::from_utf8(size.stderr).unwrap();
        assert!(size.status.code() == Some(2) && said.contains("leave out --"), "{said}");
    }
    assert_eq!(client.read(8192, 4096).unwrap(), [1; 4096]);
    let begun = Instant::now();
    let mut refused = None;
    for page in 0..256 {
        refused = client.write(0, page * 4096, &[2; 4096]).filter(|&error| error != 0);
        if refused.is_some() {
            break;
        }
    }
    assert_eq!(refused, Some(5), "no room is left, and the disc refuses");
    assert!(begun.elapsed() < Duration::from_secs(10));
    drop(client);
    let (status, error) = server.end();
    assert_eq!(status, 1);
    assert!(error.contains("524288 bytes were acknowledged and are not on the disc"), "{error}");
}

/// Writes and flushes until the server is killed; what was flushed is on the disc, and no page is torn.
#[test]
fn a_killed_server_has_lost_nothing_that_was_flushed() {
    let rounds = std::env::var("NBUF_KILLS").ok().and_then(|text| text.parse().ok()).unwrap_or(20);
    let place = Place::new();
    let (disc, _) = image(&place, 4 * MIB);
    for round in 0..rounds {
        // The socket of the killed server is still there, and is replaced.
        let kind = if round % 2 == 0 { "file:" } else { "direct:" };
        let disc = disc.replace("file:", kind);
        let server = Server::start(&place, &disc, &["--size", "256KiB", "--write", "back"]);
        let mut client = server.client();
        let killer = std::thread::spawn({
            let wait = Duration::from_millis(3 + round * 37 % 60);
            let pid = i32::try_from(server.child.id()).unwrap();
            move || {
                std::thread::sleep(wait);
                let pid = rustix::process::Pid::from_raw(pid).unwrap();
                rustix::process::kill_process(pid, rustix::process::Signal::KILL).unwrap();
            }
        });
        let mut flushed = vec![None; 1024];
        let mut written = flushed.clone();
        let mut last = None;
        'alive: for turn in 0_u64.. {
            for step in 0..8 {
                let page = (turn * 131 + step * 17 + round) % 1024;
                let value = u8::try_from((turn + round) % 200).unwrap();
                last = Some(value);
                if client.write(0, page * 4096, &[value; 4096]) != Some(0) {
                    break 'alive;
                }
                written[usize::try_from(page).unwrap()] = Some(value);
            }
            if client.flush() != Some(0) {
                break;
            }
            flushed.clone_from(&written);
        }
        killer.join().unwrap();
        drop(server);
        let data = fs::read(place.path("disc.img")).unwrap();
        for (page, value) in flushed.iter().enumerate() {
            let bytes = &data[page * 4096..][..4096];
            // What was written later, and not flushed, may be there too, or some of its sectors.
            let permitted = [*value, written[page], last];
            if value.is_some() {
                let is_known = |byte: &u8| permitted.contains(&Some(*byte));
                assert!(bytes.iter().all(is_known), "page {page}: {} {permitted:?}", bytes[0]);
            }
        }
    }
}

#[test]
fn hostile_clients_are_refused_and_others_served() {
    let place = Place::new();
    let (disc, data) = image(&place, 4 * MIB);
    let server = Server::start(&place, &disc, &["--size", "1MiB", "--clients", "8"]);
    let mut good = server.client();
    // Unknown commands and flags, and places that are not there.
    for (flags, kind, offset, length, want) in [
        (0, 99, 0, 0, 22),
        (1 << 9, READ, 0, 512, 22),
        (0, READ, 4 << 20, 1, 22),
        (0, READ, u64::MAX, 2, 22),
    ] {
        good.send(flags, kind, offset, length);
        assert_eq!(good.reply(), Some(want));
    }
    assert_eq!(good.write(0, 4 << 20, &[1]), Some(28));
    // A write that is too long is passed over.
    good.send(0, WRITE, 0, 65 << 20);
    for _ in 0..65 {
        good.0.write_all(&vec![1; MIB]).unwrap();
    }
    assert_eq!(good.reply(), Some(22));
    assert!(good.read(8192, 4096).unwrap() == data[8192..12288]);
    // Noise instead of a request, and an option of 4 GiB.
    let mut noise = server.client();
    noise.0.write_all(&[0xA5; 64]).unwrap();
    assert_eq!(noise.reply(), None);
    let mut long = Client::raw(&server.socket);
    long.0.write_all(b"\0\0\0\x03IHAVEOPT\0\0\0\x07\xff\xff\xff\xff").unwrap();
    let mut rest = Vec::new();
    std::io::Read::read_to_end(&mut long.0, &mut rest).unwrap();
    assert_eq!(rest.len(), 18, "the greeting alone");
    // More clients than there may be: those that are too many are closed.
    let idle: Vec<Client> = (0..50).map(|_| Client::raw(&server.socket)).collect();
    assert!(good.read(0, 4096).is_ok());
    drop(idle);
    // A client that vanishes in each part of a request.
    for length in 0..28 {
        let mut tries = (0..500).map(|_| {
            std::thread::sleep(Duration::from_millis(10));
            Client::try_connect(&server.socket)
        });
        // The server may not have noticed yet that the others are gone.
        let mut client = tries.find_map(Result::ok).expect("there is room again");
        client.0.write_all(&[0x25, 0x60, 0x95, 0x13].repeat(7)[..length]).unwrap();
    }
    assert!(good.read(0, 4096).unwrap() == data[..4096]);
    assert_eq!(server.end().0, 0);
}

#[test]
fn a_server_answers_about_itself() {
    let place = Place::new();
    let (disc, data) = image(&place, 4 * MIB);
    let mut server = Server::start(&place, &disc, &["--size", "1MiB", "--write", "back"]);
    let mut client = server.client();
    for page in [1, 2, 1, 1] {
        assert!(client.read(page * 4096, 4096).is_ok());
    }
    assert_eq!(client.write(0, 0, &[1; 8192]), Some(0));
    let socket = server.socket.to_str().unwrap().to_owned();
    let ask = |arguments: &[&str]| place.nbuf(["serve"]).args(arguments).output().unwrap();
    let stats = ask(&["stats", &socket, "--json"]);
    let stats: serde_json::Value = serde_json::from_slice(&stats.stdout).unwrap();
    assert_eq!((&stats["reads"], &stats["page_hits"]), (&4.into(), &2.into()));
    assert_eq!(stats["misses"]["never_seen"], 2);
    let text = String::from_utf8(ask(&["stats", &socket]).stdout).unwrap();
    assert!(text.contains("hit ratio 50.0 %"), "{text}");
    assert!(text.contains("hit ratio 50.0 % with 2.00 MiB and s3-fifo"), "{text}");
    let twice = &stats["other_sizes"][3];
    assert_eq!((&twice["cache_bytes"], &twice["hit_ratio"]), (&(2 << 20).into(), &0.5.into()));
    assert!(ask(&["policy", &socket, "lru"]).status.success());
    let refused = ask(&["policy", &socket, "opt"]);
    let error = String::from_utf8(refused.stderr).unwrap();
    assert!(refused.status.code() == Some(125) && error.contains("needs the future"), "{error}");
    let odd = ask(&["resize", &socket, "69633"]);
    let said = String::from_utf8(odd.stderr).unwrap();
    assert!(
        odd.status.success() && said.contains("the cache has 69632 B instead of 69633 B"),
        "{said}"
    );
    let even = ask(&["resize", &socket, "64KiB"]);
    assert!(even.status.success() && even.stderr.is_empty(), "{even:?}");
    let stats = ask(&["stats", &socket, "--json"]);
    let stats: serde_json::Value = serde_json::from_slice(&stats.stdout).unwrap();
    assert_eq!((&stats["cache_bytes"], &stats["owed_bytes"]), (&65536.into(), &0.into()));
    assert_eq!(stats["policy"], "lru");
    assert_eq!(stats["other_sizes"], serde_json::json!([]), "nothing was read since");
    assert!(client.read(12288, 4096).unwrap() == data[12288..16384]);
    assert_eq!(client.write(0, 16384, &[2; 4096]), Some(0));
    assert!(ask(&["drain", &socket]).status.success());
    assert_eq!(server.child.wait().unwrap().code(), Some(0));
    assert_eq!(fs::read(place.path("disc.img")).unwrap()[16384..20480], [2; 4096]);
    let none = ask(&["stats", &socket]);
    let error = String::from_utf8(none.stderr).unwrap();
    assert!(none.status.code() == Some(125) && error.contains("no server answers"), "{error}");
    // A control socket of another name: the socket of the data does not know these words.
    let control = place.path("control");
    let options = ["--size", "1MiB", "--control", control.to_str().unwrap()];
    let mut server =
        Server::start(&place, &format!("file:{}", place.path("disc.img").display()), &options);
    let wrong = ask(&["drain", &socket]);
    let error = String::from_utf8(wrong.stderr).unwrap();
    assert!(
        wrong.status.code() == Some(125) && error.contains("is not a control socket"),
        "{error}"
    );
    assert!(ask(&["drain", options[3]]).status.success());
    assert_eq!(server.child.wait().unwrap().code(), Some(0));
}

#[test]
fn what_cannot_be_served_is_refused_in_one_line() {
    let place = Place::new();
    let (disc, _) = image(&place, MIB);
    fs::write(place.path("empty"), "").unwrap();
    fs::write(place.path("file"), "precious").unwrap();
    let server = Server::start(&place, &disc, &["--size", "64KiB"]);
    let check = |arguments: &[&str], status: i32, want: &str| {
        let output = place.nbuf(["serve"]).args(arguments).output().unwrap();
        let said = String::from_utf8(output.stderr).unwrap();
        assert!(
            said.contains(want) && said.trim_end().lines().count() == 1,
            "{arguments:?}: {said}"
        );
        assert_eq!(output.status.code(), Some(status), "{said}");
    };
    check(
        &["--disc", &disc, "--size", "64KiB", "--socket", "other"],
        125,
        "locked by another server",
    );
    check(&["--disc", "file:absent", "--size", "1MiB"], 125, "absent: No such file");
    check(&["--disc", "file:.", "--size", "1MiB"], 125, "neither a regular file nor a block");
    check(&["--disc", "file:empty", "--size", "1MiB"], 125, "is empty");
    check(&["--disc", "disc.img", "--size", "1MiB"], 2, "write file:PATH, direct:PATH, nbd");
    check(&["--disc", "nbd:unix:absent", "--size", "1MiB"], 125, "start it first");
    check(&["--disc", "file:file", "--size", "1"], 2, "less than a page");
    check(&["--disc", "file:file", "--size", "1MiB", "--page", "1000"], 2, "no power of two");
    check(&["--disc", "file:file", "--size", "1MiB", "--policy", "opt"], 2, "needs the future");
    check(
        &["--disc", "file:file", "--size", "1MiB", "--listen", "0.0.0.0:0"],
        2,
        "no loopback address",
    );
    check(&["--disc", "file:file", "--size", "1MiB", "--socket", "empty"], 125, "is not a socket");
    check(
        &["--disc", "file:file", "--size", "1MiB", "--socket", "socket"],
        125,
        "a server listens at",
    );
    let long = "s".repeat(108);
    check(
        &["--disc", "file:file", "--size", "1MiB", "--socket", &long],
        125,
        "and the kernel permits 107: give a shorter one",
    );
    assert_eq!(fs::read(place.path("file")).unwrap(), b"precious");
    assert_eq!(server.end().0, 0);
}

#[test]
fn reads_of_a_read_only_disc_are_served_and_writes_refused() {
    let place = Place::new();
    let (disc, data) = image(&place, MIB);
    let server = Server::start(&place, &disc, &["--size", "64KiB", "--read-only"]);
    let mut client = server.client();
    assert!(client.read(0, 8192).unwrap() == data[..8192]);
    assert_eq!(client.write(0, 0, &[9; 512]), Some(1));
    assert_eq!(server.end().0, 0);
}
