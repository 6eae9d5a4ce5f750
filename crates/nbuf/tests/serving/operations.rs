//! What service managers and operators do: pass sockets, check a file of settings, have it read again.

use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::net::{TcpListener, TcpStream};
use std::os::fd::OwnedFd;
use std::os::unix::net::{UnixDatagram, UnixListener, UnixStream};
use std::path::Path;
use std::process::{ChildStderr, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use super::{Client, Server};
use crate::support::{NBUF, Place};
use crate::{MIB, has, image};

/// `nbuf serve` with these two descriptors as 3 and 4, as a service manager passes them.
fn passed(place: &Place, first: OwnedFd, second: OwnedFd, arguments: &[&str]) -> Command {
    let script = "exec 3<&0 4>&2 2>error </dev/null; export LISTEN_PID=$$; exec \"$@\"";
    let mut command = Command::new("sh");
    let nbuf = place.nbuf(["serve"]);
    command.args(["-c", script, "sh"]).arg(nbuf.get_program()).args(nbuf.get_args());
    command.args(arguments).current_dir(place.path("")).stdin(first).stderr(second);
    command.env("LISTEN_FDS", "2").env_remove("SUDO_UID").env_remove("SUDO_GID");
    command
}

fn ends_well(server: &mut Server) {
    server.signal(libc::SIGTERM);
    assert_eq!(server.child.wait().unwrap().code(), Some(0));
}

#[test]
fn sockets_of_a_service_manager_are_served_and_kept() {
    let place = Place::new();
    let (disc, data) = image(&place, MIB);
    let (socket, control) = (place.path("passed"), place.path("asked"));
    let unix = UnixListener::bind(&socket).unwrap();
    let asked = UnixListener::bind(&control).unwrap();
    let ready = UnixDatagram::bind(place.path("ready")).unwrap();
    ready.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
    let options = ["--disc", &disc, "--size", "64KiB"];
    let own = |listener: &UnixListener| OwnedFd::from(listener.try_clone().unwrap());
    let mut command = passed(&place, own(&unix), own(&asked), &options);
    command.env("LISTEN_FDNAMES", "data:control").env("NOTIFY_SOCKET", place.path("ready"));
    let mut server = Server::spawn(command, socket.clone());
    let mut said = [0; 16];
    let length = ready.recv(&mut said).unwrap();
    assert_eq!(&said[..length], b"READY=1");
    assert!(server.client().read(4096, 4096).unwrap() == data[4096..8192]);
    let stats = place.nbuf(["serve", "stats"]).arg(&control).output().unwrap();
    assert!(String::from_utf8_lossy(&stats.stdout).contains("reads     1 of"), "{stats:?}");
    for descriptor in [3, 4] {
        let path = format!("/proc/{}/fdinfo/{descriptor}", server.child.id());
        let text = fs::read_to_string(path).unwrap();
        let flags = text.lines().find_map(|line| line.strip_prefix("flags:")).unwrap();
        let flags = i32::from_str_radix(flags.trim(), 8).unwrap();
        assert_ne!(flags & libc::O_CLOEXEC, 0, "{text}");
    }
    ends_well(&mut server);
    // The service manager starts the next server when the next client comes.
    let mut waiting = UnixStream::connect(&socket).expect("the socket is still there");
    let mut command = passed(&place, own(&unix), own(&asked), &options);
    command.env("LISTEN_FDNAMES", "data:control");
    let mut server = Server::spawn(command, socket);
    waiting.read_exact(&mut [0; 18]).expect("the client that waited is greeted");
    ends_well(&mut server);
}

#[test]
fn addresses_of_a_service_manager_are_checked_as_others() {
    let place = Place::new();
    let (disc, _) = image(&place, MIB);
    let options = ["--disc", &disc, "--size", "64KiB", "--control", "control"];
    let tcp = |address: &str| TcpListener::bind(address).unwrap();
    let (one, two) = (tcp("127.0.0.1:0"), tcp("127.0.0.1:0"));
    let own = |listener: &TcpListener| OwnedFd::from(listener.try_clone().unwrap());
    let command = passed(&place, own(&one), own(&two), &options);
    let mut server = Server::spawn(command, place.path("none"));
    for listener in [&one, &two] {
        let mut client = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        client.read_exact(&mut [0; 18]).unwrap();
    }
    assert!(!place.path("none").exists() && place.path("control").exists());
    ends_well(&mut server);
    let open = OwnedFd::from(tcp("0.0.0.0:0"));
    let refused = |second: OwnedFd, status: i32, want: &str| {
        let output = passed(&place, own(&one), second, &options).output().unwrap();
        let said = fs::read_to_string(place.path("error")).unwrap();
        assert!(said.contains(want) && said.lines().count() == 1, "{said}");
        assert_eq!(output.status.code(), Some(status), "{said}");
    };
    refused(open, 2, "no loopback address");
    let file = fs::File::create(place.path("file")).unwrap();
    refused(file.into(), 125, "check the unit of the socket");
    let connected = TcpStream::connect(one.local_addr().unwrap()).unwrap();
    refused(connected.into(), 125, "write Accept=no");
    // Sockets of another process are left alone.
    let mut other = place.nbuf(["serve", "--socket", "other"]);
    other.args(options).env("LISTEN_PID", "1").env("LISTEN_FDS", "2").stderr(Stdio::piped());
    let server = Server::spawn(other, place.path("other"));
    assert_eq!(server.end().0, 0);
}

#[test]
fn systemd_itself_activates_it() {
    if !has(&["systemd-socket-activate"]) {
        return;
    }
    let place = Place::new();
    let (disc, data) = image(&place, MIB);
    let socket = place.path("passed");
    let mut command = Command::new("systemd-socket-activate");
    command.arg("-l").arg(&socket).args([NBUF, "serve", "--disc", &disc, "--size", "64KiB"]);
    let child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let mut server = Server { child, socket: socket.clone() };
    let tries = (0..500).find_map(|_| {
        std::thread::sleep(Duration::from_millis(10));
        UnixStream::connect(&socket).ok().map(drop)
    });
    assert!(tries.is_some(), "it listens");
    assert!(Client::connect(&socket).read(0, 4096).unwrap() == data[..4096]);
    ends_well(&mut server);
}

/// Lines of standard error as they come.
fn lines(error: ChildStderr) -> Receiver<String> {
    let (to, from) = channel();
    std::thread::spawn(move || {
        for line in BufReader::new(error).lines().map_while(Result::ok) {
            if to.send(line).is_err() {
                return;
            }
        }
    });
    from
}

#[test]
fn a_file_of_settings_is_checked_and_touches_nothing() {
    let place = Place::new();
    image(&place, MIB);
    let check = |text: &str, options: &[&str], status: i32, want: &str| {
        fs::write(place.path("disc.toml"), text).unwrap();
        let mut command = place.nbuf(["serve", "--config", "disc.toml", "--check-config"]);
        let output = command.args(options).output().unwrap();
        let said = [output.stdout, output.stderr].concat();
        let said = String::from_utf8(said).unwrap();
        assert!(said.contains(want) && said.lines().count() == 1, "{text}: {said}");
        assert_eq!(output.status.code(), Some(status), "{said}");
    };
    let right = "disc = 'file:disc.img'\nsize = '64KiB'\nwrite = 'back'\n";
    let want = "right: would serve file:";
    let before = fs::metadata(place.path("disc.img")).unwrap().modified().unwrap();
    check(right, &[], 0, want);
    check(right, &["--size", "1MiB", "--policy", "lru"], 0, "1.00 MiB: lru, write back");
    check("sise = '64KiB'\n", &[], 2, "disc.toml: line 1: unknown key `sise`");
    check(&format!("{right}\nclients = 'many'\n"), &[], 2, "disc.toml: line 5: ");
    check("size = '64KiB'\n", &[], 2, "no disc is given: give --disc, or `disc` in the file");
    check(&format!("{right}socket = 'absent/socket'\n"), &[], 2, "absent: No such file");
    check("disc = 'file:absent.img'\nsize = '1MiB'\n", &[], 2, "absent.img: No such file");
    check("disc = 'nbd:unix:disc.img'\nsize = '1MiB'\n", &[], 2, "no socket");
    // A running server has the disc locked, and is not disturbed.
    let disc = format!("file:{}", place.path("disc.img").display());
    let server = Server::start(&place, &disc, &["--size", "64KiB"]);
    check(right, &[], 0, want);
    assert_eq!(server.end().0, 0);
    assert_eq!(fs::metadata(place.path("disc.img")).unwrap().modified().unwrap(), before);
    assert!(!place.path("socket").exists());
    let output = place.nbuf(["serve", "--config", "none.toml", "--check-config"]).output().unwrap();
    assert_eq!(output.status.code(), Some(2), "{output:?}");
}

#[test]
fn a_signal_has_the_file_read_again() {
    let place = Place::new();
    image(&place, MIB);
    let file = place.path("disc.toml");
    let write = |rest: &str| {
        let text = format!("disc = 'file:disc.img'\nsocket = 'socket'\n{rest}");
        fs::write(&file, text).unwrap();
    };
    write("size = '64KiB'\n");
    let mut command = place.nbuf(["serve", "--config", "disc.toml", "--threads", "2"]);
    command.stderr(Stdio::piped());
    let mut server = Server::spawn(command, place.path("socket"));
    let said = lines(server.child.stderr.take().unwrap());
    let next = || said.recv_timeout(Duration::from_secs(20)).unwrap();
    let mut client = server.client();
    assert_eq!(client.write(0, 0, &[1; 4096]), Some(0));
    write(
        "size = '128KiB'\npolicy = 'lru'\nwrite = 'back'\nclients = 9\npage = 512\nthreads = 7\n",
    );
    server.signal(libc::SIGHUP);
    assert_eq!(next(), "nbuf: config: page stays as it is until the server is started again");
    assert_eq!(next(), "nbuf: config: size was 64.0 KiB and is 128 KiB");
    assert_eq!(next(), "nbuf: config: policy was s3-fifo and is lru");
    assert_eq!(next(), "nbuf: config: write was through and is back");
    assert_eq!(next(), "nbuf: config: clients was 64 and is 9");
    let stats = || {
        let output = place.nbuf(["serve", "stats", "socket", "--json"]).output().unwrap();
        serde_json::from_slice::<serde_json::Value>(&output.stdout).unwrap()
    };
    let now = stats();
    assert_eq!((&now["cache_bytes"], &now["page_bytes"]), (&131_072.into(), &4096.into()));
    assert_eq!((&now["policy"], &now["write"]), (&"lru".into(), &"back".into()));
    assert_eq!(client.write(0, 4096, &[2; 4096]), Some(0));
    assert_eq!(stats()["writes_absorbed"], 1);
    // What is dirty is written before a write is on the disc at once again.
    write("size = '128KiB'\npolicy = 'lru'\nwrite = 'through'\nclients = 9\n");
    server.signal(libc::SIGHUP);
    assert_eq!(next(), "nbuf: config: write was back and is through");
    assert_eq!(fs::read(place.path("disc.img")).unwrap()[4096..8192], [2; 4096]);
    server.signal(libc::SIGHUP);
    assert_eq!(next(), "nbuf: config: read again, nothing to change");
    write("size = 'much'\n");
    server.signal(libc::SIGHUP);
    let line = next();
    assert!(line.contains("config: not used, nothing was changed: ") && line.contains("line 3"));
    assert!(client.read(4096, 4096).unwrap() == [2; 4096]);
    ends_well(&mut server);
}

/// Units that are packaged name options that exist.
#[test]
fn the_packaged_units_are_what_systemd_takes() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../packaging/systemd");
    let service = fs::read_to_string(folder.join("nbuf-serve@.service")).unwrap();
    let place = Place::new();
    image(&place, MIB);
    fs::write(place.path("disc.toml"), "disc = 'file:disc.img'\nsize = '64KiB'\n").unwrap();
    for key in ["ExecStartPre=", "ExecStart="] {
        let line = service.lines().find_map(|line| line.strip_prefix(key)).unwrap();
        let line = line.replace("/etc/nbuf/%i.toml", "disc.toml").replace("%t/nbuf-%i/", "");
        let words: Vec<&str> = line.split(' ').collect();
        assert_eq!(words[0], "/usr/bin/nbuf", "{line}");
        let mut command = place.nbuf(&words[1..]);
        if !line.contains("--check-config") {
            command.arg("--check-config");
        }
        let output = command.output().unwrap();
        assert!(output.status.success(), "{line}: {output:?}");
    }
    if has(&["systemd-analyze"]) {
        for unit in ["nbuf-serve@.service", "nbuf-serve@.socket"] {
            let text = fs::read_to_string(folder.join(unit)).unwrap();
            // The program is where it was built.
            fs::write(place.path(unit), text.replace("/usr/bin/nbuf", NBUF)).unwrap();
        }
        let mut command = Command::new("systemd-analyze");
        command.args(["verify", "--man=no", "--recursive-errors=no"]);
        command.arg(place.path("nbuf-serve@.service")).arg(place.path("nbuf-serve@.socket"));
        let output = command.env("SYSTEMD_LOG_LEVEL", "warning").output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(!said.contains("nbuf-serve@"), "{said}");
    }
}
