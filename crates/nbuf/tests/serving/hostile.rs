//! Clients that want to hold the server's memory or time: slow ones, ones that take no replies, thousands.

use std::fs;
use std::io::{Read, Write};
use std::time::{Duration, Instant};

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use super::exports::stats;
use super::{Client, FLUSH, READ, Server, WRITE};
use crate::support::{Place, skip, until};
use crate::{MIB, image};

/// The most memory that a server ever had, in MiB.
fn peak_mib(server: &Server) -> usize {
    let status = fs::read_to_string(format!("/proc/{}/status", server.child.id())).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    line.split_whitespace().next().unwrap().parse::<usize>().unwrap() / 1024
}

/// Sends a byte now and then, until the server closes the connection; false if it does not in time.
#[expect(clippy::disallowed_methods, reason = "the end of patience is the subject")]
fn is_closed(client: &mut Client, takes_replies: bool) -> bool {
    let begun = Instant::now();
    client.0.set_read_timeout(Some(Duration::from_millis(100))).unwrap();
    while begun.elapsed() < Duration::from_secs(30) {
        if client.0.write_all(&[0]).is_err() {
            return true;
        }
        if !takes_replies {
            std::thread::sleep(Duration::from_millis(100));
        } else if matches!(client.0.read(&mut [0; 64]), Ok(0)) {
            return true;
        }
    }
    false
}

#[test]
fn clients_that_dawdle_are_closed_and_others_served() {
    let place = Place::new();
    let (disc, data) = image(&place, 4 * MIB);
    let options = ["--size", "8MiB", "--client-timeout", "5"];
    let server = Server::start(&place, &disc, &options);
    let mut good = server.client();
    assert!(good.read(0, 4 * MIB).unwrap() == data);
    // A handshake by the byte: the flags, and an option that never ends.
    let mut shy = Client::raw(&server.socket);
    shy.0.write_all(b"\0\0\0\x03IHAVEOPT\0\0\0\x07\0\0\xff\xff").unwrap();
    // A write by the byte.
    let mut slow = server.client();
    slow.send(0, WRITE, 0, 1 << 20);
    // Replies that are never taken: far more than the kernel keeps for a socket.
    let mut deaf = server.client();
    for _ in 0..64 {
        deaf.send(0, READ, 0, 4 << 20);
    }
    // A write that is refused, and passed over by the byte.
    let mut long = server.client();
    long.send(0, WRITE, 0, 1 << 31);
    for (client, takes) in
        [(&mut shy, true), (&mut slow, true), (&mut long, true), (&mut deaf, false)]
    {
        assert!(is_closed(client, takes), "the server waits for ever");
        assert!(good.read(4096, 4096).unwrap() == data[4096..8192]);
    }
    assert!(good.read(0, 4096).unwrap() == data[..4096]);
    drop(good);
    assert_eq!(server.end().0, 0);
}

/// Forty clients ask for 256 MiB each and take nothing; forty more announce writes of 32 MiB.
#[test]
fn what_clients_ask_for_is_not_what_the_server_keeps() {
    let place = Place::new();
    let disc = place.path("disc.img");
    fs::File::create(&disc).unwrap().set_len(64 << 20).unwrap();
    let disc = format!("file:{}", disc.display());
    let options = ["--size", "1MiB", "--client-timeout", "5", "--clients", "128"];
    let server = Server::start(&place, &disc, &options);
    let greedy: Vec<Client> = (0..40)
        .map(|_| {
            let mut client = server.client();
            for _ in 0..8 {
                client.send(0, READ, 0, 32 << 20);
            }
            client
        })
        .collect();
    let writers: Vec<Client> = (0..40)
        .map(|_| {
            let mut client = server.client();
            client.send(0, WRITE, 0, 32 << 20);
            client.0.write_all(&vec![1; 100_000]).unwrap();
            client
        })
        .collect();
    let mut good = server.client();
    for _ in 0..20 {
        assert_eq!(good.read(8192, 4096).unwrap(), [0; 4096]);
        std::thread::sleep(Duration::from_millis(50));
    }
    let peak = peak_mib(&server);
    assert!(peak < 700, "{peak} MiB: 512 MiB are the limit of requests");
    drop((greedy, writers));
    assert_eq!(good.write(0, 0, &[7; 4096]), Some(0));
    drop(good);
    assert_eq!(server.end().0, 0);
}

/// A read in the cache is answered at once: what came before the end was once answered without a limit.
#[test]
fn what_comes_before_the_end_is_bounded_too() {
    let place = Place::new();
    let (disc, _) = image(&place, 32 * MIB);
    let server = Server::start(&place, &disc, &["--size", "64MiB"]);
    let mut good = server.client();
    assert!(good.read(0, 32 * MIB).is_ok());
    let head = |kind: u16| {
        let mut head = 0x2560_9513_u32.to_be_bytes().to_vec();
        head.extend([0; 2]);
        head.extend(kind.to_be_bytes());
        head.extend([0; 16]);
        head.extend((32_u32 << 20).to_be_bytes());
        head
    };
    let reads: Vec<u8> = (0..60).flat_map(|_| head(READ)).collect();
    let mut gone = server.client();
    gone.0.write_all(&[head(2), reads.clone()].concat()).unwrap();
    let mut half = server.client();
    half.0.write_all(&reads).unwrap();
    half.0.shutdown(std::net::Shutdown::Write).unwrap();
    for _ in 0..20 {
        assert!(good.read(8192, 4096).is_ok());
        std::thread::sleep(Duration::from_millis(20));
    }
    let peak = peak_mib(&server);
    assert!(peak < 400, "{peak} MiB");
    let mut reply = vec![0; 16 + 32 * MIB];
    (0..2).for_each(|_| half.0.read_exact(&mut reply).unwrap());
    drop((gone, half, good));
    assert_eq!(server.end().0, 0);
}

/// A client that has agreed on structured replies and on the context `nbuf:dirty`.
fn curious(server: &Server) -> Client {
    let mut client = Client::raw(&server.socket);
    client.0.read_exact(&mut [0; 18]).unwrap();
    client.0.write_all(&3_u32.to_be_bytes()).unwrap();
    let context = b"\0\0\0\0\0\0\0\x01\0\0\0\x0anbuf:dirty";
    for (option, data) in [(8_u32, &[][..]), (10, context), (7, &[0; 6])] {
        let length = u32::try_from(data.len()).unwrap();
        let head = [&b"IHAVEOPT"[..], &option.to_be_bytes(), &length.to_be_bytes()].concat();
        client.0.write_all(&[&head, data].concat()).unwrap();
        let is_acknowledged = |client: &mut Client| {
            let mut reply = [0; 20];
            client.0.read_exact(&mut reply).unwrap();
            let number = |at: usize| u32::from_be_bytes(reply[at..at + 4].try_into().unwrap());
            client.0.read_exact(&mut vec![0; number(16) as usize]).unwrap();
            assert!(number(12) >> 31 == 0, "option {option} is refused");
            number(12) == 1
        };
        while !is_acknowledged(&mut client) {}
    }
    client
}

/// A status of 4 GiB looked at each of its eight million sectors, and the others waited for all that were asked for.
#[test]
fn many_questions_about_the_disc_leave_others_their_turn() {
    let place = Place::new();
    let disc = place.path("disc.img");
    fs::File::create(&disc).unwrap().set_len(8 << 30).unwrap();
    let options = ["--size", "1MiB", "--page", "512"];
    let server = Server::start(&place, &format!("file:{}", disc.display()), &options);
    let mut good = server.client();
    let mut curious = curious(&server);
    for _ in 0..140 {
        curious.send(0, 7, 0, !4095);
    }
    for _ in 0..20 {
        assert!(good.read(8192, 4096).is_ok());
    }
    // Each answer is of the part that was looked at.
    let mut answer = [0; 20 + 4 + 8];
    curious.0.read_exact(&mut answer).unwrap();
    assert_eq!(answer[24..28], (512_u32 << 16).to_be_bytes());
    drop((good, curious));
    assert_eq!(server.end().0, 0);
}

/// Ten thousand, or as many as the limit on open files permits.
#[test]
fn thousands_of_clients_are_a_little_memory_each() {
    let limit = getrlimit(Resource::Nofile);
    let clients = limit.maximum.map_or(10_000, |most| most.saturating_sub(512).min(10_000));
    if clients < 1000 {
        return skip("the limit on open files is low");
    }
    let needed = clients + 512;
    if limit.current.is_some_and(|now| now < needed) {
        setrlimit(Resource::Nofile, Rlimit { current: Some(needed), ..limit }).unwrap();
    }
    let place = Place::new();
    let (disc, data) = image(&place, 4 * MIB);
    let most = clients.to_string();
    // A third of them stay within a request for as long as the test takes.
    let options = ["--size", "1MiB", "--clients", &most, "--client-timeout", "3600"];
    let server = Server::start(&place, &disc, &options);
    let mut good = server.client();
    // Each agrees, has read something, and is idle; a third are within a request.
    let mut crowd: Vec<Client> = (1..clients).map(|_| server.client()).collect();
    for (at, client) in crowd.iter_mut().enumerate() {
        assert!(client.read(0, 512).unwrap() == data[..512], "client {at}");
        if at % 3 == 0 {
            client.0.write_all(&[0x25, 0x60, 0x95]).unwrap();
        }
        if at % 100 == 0 {
            assert!(good.read(4096, 4096).unwrap() == data[4096..8192]);
        }
    }
    assert!(Client::try_connect(&server.socket).is_err(), "one too many");
    // Two looks at the clock, in which buffers of idle clients are freed.
    std::thread::sleep(Duration::from_millis(2500));
    assert!(good.read(0, 4096).unwrap() == data[..4096]);
    let peak = peak_mib(&server);
    let limit = 64 + usize::try_from(clients).unwrap() * 32 / 1024;
    assert!(peak < limit, "{peak} MiB for {clients} clients");
    drop(crowd);
    assert!(good.read(0, 4096).unwrap() == data[..4096]);
    drop(good);
    assert_eq!(server.end().0, 0);
}

/// Others have the server's turn while many requests and the end of a connection come together.
#[test]
fn who_closes_its_end_gets_all_replies_before() {
    const FLUSHES: usize = 2000;
    const CACHE: u16 = 5;
    let place = Place::new();
    fs::write(place.path("disc.img"), "").unwrap();
    fs::File::options()
        .write(true)
        .open(place.path("disc.img"))
        .unwrap()
        .set_len(64 << 20)
        .unwrap();
    let server = Server::start(&place, "file:disc.img", &["--size", "64MiB"]);
    let mut busy: Vec<Client> = (0..8).map(|_| server.client()).collect();
    let mut client = server.client();
    for client in &mut busy {
        for _ in 0..200 {
            client.send(0, CACHE, 0, 64 << 20);
        }
    }
    for _ in 0..FLUSHES {
        client.send(0, FLUSH, 0, 0);
    }
    client.0.shutdown(std::net::Shutdown::Write).unwrap();
    let mut replies = Vec::new();
    client.0.read_to_end(&mut replies).unwrap();
    assert_eq!(replies.len(), 16 * FLUSHES);
    drop(busy);
    assert_eq!(server.end().0, 0);
}

/// Clients that die with more replies untaken than the server sends without a pause.
#[test]
fn clients_that_die_with_replies_untaken_are_gone() {
    let place = Place::new();
    let (disc, _) = image(&place, 24 * MIB);
    let server = Server::start(&place, &disc, &["--size", "32MiB"]);
    let mut good = server.client();
    good.read(0, 24 * MIB).unwrap();
    for _ in 0..6 {
        let mut client = server.client();
        client.send(0, READ, 0, 24 << 20);
        std::thread::sleep(Duration::from_millis(50));
    }
    until("they are gone", || stats(&place)["clients"] == 1);
    assert_eq!(good.read(0, 4096).unwrap().len(), 4096);
    drop(good);
    assert_eq!(server.end().0, 0);
}
