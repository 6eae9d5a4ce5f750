//! A backend server that takes what it is sent more slowly than it comes.

use std::io::Read as _;
use std::os::unix::net::UnixStream;

use super::Client;
use crate::clock::Stopwatch;
use crate::disc::Disc as _;
use crate::disc::nbd::greet::Agreed;
use crate::disc::nbd::line::Line;
use crate::disc::nbd::wire::export;
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
