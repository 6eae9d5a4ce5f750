//! Objects behind a server of these tests, which can change them, break off and refuse.

mod server;

use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};

use super::super::{Completion, Disc, is_dropped, wait_for};
use super::{GIVE_UP, Http, ObjectDisc, ObjectDiscError, Origin};
use crate::clock::Stopwatch;
use crate::trace::request::{Op, Request};
use crate::units::Nanos;
use server::{Served, Server};

fn bytes(count: usize) -> Vec<u8> {
    (0..count).map(|at| u8::try_from(at * 7 % 251).unwrap_or(0)).collect()
}

fn open(address: &str, give_up: Duration) -> Result<ObjectDisc, ObjectDiscError> {
    let address = address.to_owned();
    let origin = async move { Http::open(&address).await.map(Origin::Web) };
    ObjectDisc::open(origin, give_up, Stopwatch::start(), |error| panic!("{error}"))
}

fn read(offset: u64, length: usize) -> (Request, Vec<u8>) {
    (Request::new(Op::Read, offset, length as u64), vec![0xAA; length])
}

fn ask(disc: &mut ObjectDisc, (request, data): (Request, Vec<u8>)) -> Completion {
    wait_for(disc, Nanos::ZERO, request, data).unwrap()
}

/// The error of a read of one block.
fn refused(disc: &mut ObjectDisc) -> String {
    ask(disc, read(0, 512)).outcome.unwrap_err().to_string()
}

#[test]
fn many_reads_at_once_get_the_bytes_of_the_file() {
    let all = bytes(300_001);
    let server = Server::start(Served::new(&all));
    let mut disc = open(&server.url, GIVE_UP).unwrap();
    assert_eq!(disc.size_bytes(), 300_001);
    let ranges: Vec<(usize, usize)> =
        (0..200).map(|at| (at * 1499, 1 + at * 7)).chain([(300_000, 1), (0, 300_001)]).collect();
    for (task, &(offset, length)) in ranges.iter().enumerate() {
        let (request, data) = read(offset as u64, length);
        let task = u32::try_from(task).unwrap();
        disc.submit(Nanos::ZERO, Request { task, ..request }, data);
    }
    assert_eq!(disc.under_way(), ranges.len());
    let mut last = Nanos::ZERO;
    for _ in &ranges {
        let done = disc.next_completion(Nanos::MAX).unwrap();
        let (offset, length) = ranges[done.request.task as usize];
        assert_eq!(done.outcome, Ok(()));
        assert!(done.data == all[offset..offset + length] && done.at >= last);
        last = done.at;
    }
    assert_eq!((disc.next_completion(Nanos::MAX), disc.under_way()), (None, 0));
    let past = ask(&mut disc, read(300_000, 2));
    assert!(past.outcome.unwrap_err().to_string().contains("past the end of the disc"));
    // The one of the start too; what is past the end reaches no server.
    assert_eq!(server.requests(), 1 + ranges.len());
}

#[test]
fn it_is_read_only_and_a_flush_has_nothing_to_do() {
    let server = Server::start(Served::new(&bytes(4096)));
    let mut disc = open(&server.url, GIVE_UP).unwrap();
    for op in [Op::Write, Op::Discard] {
        let done = ask(&mut disc, (Request::new(op, 0, 512), vec![1; 512]));
        assert!(done.outcome.unwrap_err().to_string().ends_with("and read-only"), "{op:?}");
    }
    assert_eq!(ask(&mut disc, (Request::new(Op::Flush, 0, 0), Vec::new())).outcome, Ok(()));
    assert_eq!((server.requests(), disc.complaint()), (1, None));
}

#[test]
fn a_changed_object_fails_and_does_not_mix() {
    let first = Served::new(&bytes(4096));
    let second = bytes(4096).into_iter().map(|byte| byte ^ 1).collect::<Vec<_>>();
    let tag = |tag: &str| Some(tag.to_owned());
    let modified = || tag("Mon, 30 Nov 2026 00:00:00 GMT");
    let changes: [(Served, Served); 4] = [
        // By its tag, with a server that looks at conditions and with one that does not.
        (first.clone(), Served { tag: tag("\"b\""), ..Served::new(&second) }),
        (
            Served { ignores_conditions: true, ..first.clone() },
            Served { tag: tag("\"b\""), ignores_conditions: true, ..Served::new(&second) },
        ),
        // By its time.
        (
            Served { tag: None, modified: tag("Sun, 29 Nov 2026 00:00:00 GMT"), ..first.clone() },
            Served { tag: None, modified: modified(), ..Served::new(&second) },
        ),
        // By its size, with the same tag.
        (first.clone(), Served { ignores_conditions: true, ..Served::new(&bytes(5000)) }),
    ];
    for (at, (before, after)) in changes.into_iter().enumerate() {
        let server = Server::start(before);
        let mut disc = open(&server.url, GIVE_UP).unwrap();
        assert_eq!(ask(&mut disc, read(512, 512)).data, bytes(4096)[512..1024], "{at}");
        server.set(after);
        for _ in 0..2 {
            assert!(refused(&mut disc).contains("has changed since nbuf opened it"), "{at}");
        }
        let complaint = disc.complaint().unwrap();
        assert!(complaint.contains("has changed") && complaint.contains(&server.url), "{at}");
        assert_eq!(disc.complaint(), None, "once");
    }
}

#[test]
fn versions_have_other_numbers() {
    let first_version = Served::new(&bytes(512));
    let server = Server::start(first_version.clone());
    let numbers = || open(&server.url, GIVE_UP).unwrap().numbers();
    let first = numbers();
    assert_eq!(numbers(), first);
    let text = |text: &str| Some(text.to_owned());
    server.set(Served { tag: text("\"b\""), ..first_version.clone() });
    assert!(numbers() != first && first.1 != [0; 4]);
    // Without a strong tag, nothing shows a change for certain.
    for tag in [None, text("W/\"a\"")] {
        let dated = Served {
            tag,
            modified: text("Mon, 30 Nov 2026 00:00:00 GMT"),
            ..first_version.clone()
        };
        server.set(dated.clone());
        let first = numbers();
        server.set(Served { modified: text("Mon, 30 Nov 2026 00:00:01 GMT"), ..dated });
        assert!(numbers() != first && first.1 == [0; 4]);
    }
}

#[test]
fn broken_answers_are_asked_for_again() {
    let all = bytes(100_000);
    let server = Server::start(Served::new(&all));
    let mut disc = open(&server.url, GIVE_UP).unwrap();
    for (served, tries) in [
        (Served { cut: 2, ..Served::new(&all) }, 3),
        (Served { failing: Some((503, 3)), ..Served::new(&all) }, 4),
        (Served { failing: Some((429, 1)), ..Served::new(&all) }, 2),
    ] {
        let before = server.requests();
        server.set(served);
        let done = ask(&mut disc, read(10, 90_000));
        assert_eq!(done.outcome, Ok(()));
        assert!(done.data == all[10..90_010]);
        assert_eq!(server.requests() - before, tries);
    }
    assert_eq!(disc.complaint(), None);
}

#[test]
fn it_gives_up_with_the_last_answer() {
    let server = Server::start(Served::new(&bytes(512)));
    let mut disc = open(&server.url, Duration::from_millis(400)).unwrap();
    server.set(Served { failing: Some((503, usize::MAX)), ..Served::new(&bytes(512)) });
    let said = refused(&mut disc);
    assert!(said.starts_with("Read of 512 B at byte 0: ") && said.contains("503"), "{said}");
    let address = server.url.clone();
    drop(server);
    let said = refused(&mut disc);
    assert!(said.contains(&format!("cannot reach {address} (")), "{said}");
}

#[test]
fn what_cannot_be_served_is_refused_at_the_start() {
    let check = |served: Served, want: &str| {
        let server = Server::start(served);
        let said = open(&format!("{}?signature=secret", server.url), GIVE_UP);
        let said = said.err().map(|error| error.to_string()).unwrap_or_default();
        assert!(said.contains(want) && said.contains(&server.url), "{said}");
        assert!(!said.contains('\n') && !said.contains("secret"), "{said}");
    };
    let served = || Served::new(&bytes(512));
    let failing = |status| Served { failing: Some((status, usize::MAX)), ..served() };
    check(Served { has_ranges: false, ..served() }, "sends no ranges of ");
    check(Served { tag: None, ..served() }, "neither ETag nor Last-Modified");
    check(Served::new(&[]), "is empty");
    check(failing(404), "the server has no ");
    check(failing(403), "refuses to send ");
    check(failing(401), "(401 Unauthorized)");
    check(failing(500), "(500 Internal Server Error)");
    let closed = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/disc.img", closed.local_addr().unwrap());
    drop(closed);
    let said = open(&url, GIVE_UP).err().unwrap().to_string();
    assert!(said.starts_with(&format!("cannot reach {url} (")), "{said}");
    let said = open("http://[::1/x", GIVE_UP).err().unwrap().to_string();
    assert!(said.starts_with("http://[::1/x is no URL ("), "{said}");
}

#[test]
fn its_descriptor_wakes_an_owner_that_waits_for_it() {
    let all = bytes(4096);
    let server = Server::start(Served::new(&all));
    let mut disc = open(&server.url, GIVE_UP).unwrap();
    disc.wait_for_notice();
    disc.notice();
    assert_eq!(disc.next_completion(Nanos::ZERO), None);
    for _ in 0..3 {
        let (request, data) = read(100, 1000);
        disc.submit(Nanos::ZERO, request, data);
        let wait = Timespec { tv_sec: 20, tv_nsec: 0 };
        assert_eq!(poll(&mut [PollFd::new(&disc, PollFlags::IN)], Some(&wait)), Ok(1));
        assert_eq!(disc.next_completion(Nanos::ZERO), None, "nothing was noticed");
        disc.notice();
        let done = disc.next_completion(Nanos::ZERO).unwrap();
        assert!(done.outcome.is_ok() && done.data == all[100..1100]);
        let none = Timespec { tv_sec: 0, tv_nsec: 0 };
        assert_eq!(poll(&mut [PollFd::new(&disc, PollFlags::IN)], Some(&none)), Ok(0));
    }
}

#[test]
fn its_end_waits_for_no_answer() {
    let server = Server::start(Served::new(&bytes(4096)));
    let mut disc = open(&server.url, GIVE_UP).unwrap();
    server.set(Served { is_silent: true, ..Served::new(&bytes(4096)) });
    let (request, data) = read(0, 512);
    disc.submit(Nanos::ZERO, request, data);
    while server.requests() < 2 {
        std::thread::yield_now();
    }
    assert!(is_dropped(disc));
}
