//! A backend server that takes what it is sent more slowly than it comes, and one that takes no zeros without data.

use std::io::{Read as _, Write as _};
use std::os::unix::net::UnixStream;

use super::Client;
use crate::clock::Stopwatch;
use crate::disc::nbd::greet::Agreed;
use crate::disc::nbd::line::Line;
use crate::disc::nbd::wire::export;
use crate::disc::{Disc as _, wait_for};
use crate::trace::request::{Op, Request};
use crate::units::Nanos;

const BYTES: u64 = 64 << 10;

fn client(stream: UnixStream) -> Client {
    stream.set_nonblocking(true).unwrap();
    let agreed = Agreed { size_bytes: 1 << 30, flags: export::SEND_FLUSH, allocation: None };
    Client::over(Line::over(stream), agreed, Vec::new(), Stopwatch::start())
}

#[test]
fn what_was_sent_is_not_kept_while_other_requests_wait() {
    let (ours, mut theirs) = UnixStream::pair().unwrap();
    let mut client = client(ours);
    let mut taken = vec![0; usize::try_from(BYTES).unwrap() + 28];
    let mut most = 0;
    // More than the socket holds waits from the beginning to the end.
    for count in 0..1_000_u64 {
        client.submit(
            Nanos::ZERO,
            Request::new(Op::Write, count * BYTES, BYTES),
            vec![1; 64 << 10],
        );
        client.send();
        most = most.max(client.out.len());
        assert!(count < 40 || client.wants_to_write(), "{count}");
        if count >= 40 {
            theirs.read_exact(&mut taken).unwrap();
        }
    }
    assert_eq!(client.cookie, 1_000);
    assert!(most < 8 << 20, "{most} B were kept of 64 MiB");
}

#[test]
fn a_server_that_takes_no_zeros_without_data_gets_them_as_data() {
    const PART: u32 = 1 << 20;
    let (ours, mut theirs) = UnixStream::pair().unwrap();
    let mut client = client(ours);
    let server = std::thread::spawn(move || {
        let mut asked = Vec::new();
        for _ in 0..2 {
            let mut header = [0; 28];
            theirs.read_exact(&mut header).unwrap();
            let offset = u64::from_be_bytes(header[16..24].try_into().unwrap());
            let length = u32::from_be_bytes(header[24..].try_into().unwrap());
            let mut data = vec![1; usize::try_from(length).unwrap()];
            theirs.read_exact(&mut data).unwrap();
            assert!(header[6..8] == [0, 1] && data.iter().all(|&byte| byte == 0));
            asked.push((offset, length));
            let reply = [&[0x67, 0x44, 0x66, 0x98, 0, 0, 0, 0][..], &header[8..16]].concat();
            theirs.write_all(&reply).unwrap();
        }
        asked
    });
    let zeros = Request::new(Op::Discard, 512, u64::from(PART) + 512);
    let zeros = Request { zeros: true, ..zeros };
    let done = wait_for(&mut client, Nanos::ZERO, zeros, Vec::new()).unwrap();
    assert_eq!(done.outcome, Ok(()));
    assert_eq!(server.join().unwrap(), [(512, PART), (512 + u64::from(PART), 512)]);
}
