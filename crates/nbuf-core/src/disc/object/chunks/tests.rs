//! Discs of chunks in a store in memory, which has the conditions of the real ones.

mod turns;
mod writers;

use std::collections::BTreeMap;
use std::sync::Arc;

use futures_util::TryStreamExt as _;
use object_store::memory::InMemory;
use object_store::path::Path as Key;
use object_store::{ObjectStore, ObjectStoreExt as _};
use proptest::prelude::*;
use tokio::runtime::Builder;

use super::super::super::{Disc as _, wait_for};
use super::super::{GIVE_UP, ObjectDisc, ObjectDiscError, Origin};
use super::held::ZEROS;
use super::{Chunks, Opening};
use crate::clock::Stopwatch;
use crate::trace::request::{Op, Request};
use crate::units::Nanos;

const CHUNK: usize = 4096;
/// Twenty chunks, and a part of one.
const SIZE: usize = 20 * CHUNK + 512;

fn opening(owner: &str, size_bytes: Option<u64>, is_read_only: bool) -> Opening {
    let address = "s3+chunks://b/d".to_owned();
    let mut opening = Opening::new(address, owner.to_owned(), size_bytes, is_read_only);
    opening.chunk_bytes = CHUNK as u64;
    opening.held_bytes = 3 * CHUNK as u64;
    opening
}

fn open_as<S: ObjectStore>(
    store: &Arc<S>,
    opening: Opening,
) -> Result<ObjectDisc, ObjectDiscError> {
    let store: Arc<dyn ObjectStore> = store.clone();
    let place = (store, Key::from("d"));
    let origin = async move { Chunks::open(place, &opening).await.map(Origin::Chunks) };
    ObjectDisc::open(origin, GIVE_UP, Stopwatch::start(), |error| panic!("{error}"))
}

fn open(store: &Arc<InMemory>) -> ObjectDisc {
    open_as(store, opening("a", Some(SIZE as u64), false)).unwrap()
}

/// Runs it in a runtime of its own.
fn run<T>(work: impl Future<Output = T>) -> T {
    Builder::new_current_thread().enable_all().build().unwrap().block_on(work)
}

/// The objects below the prefix.
fn objects(store: &InMemory) -> BTreeMap<String, Vec<u8>> {
    run(async {
        let metas: Vec<_> = store.list(Some(&Key::from("d"))).try_collect().await.unwrap();
        let mut objects = BTreeMap::new();
        for meta in metas {
            let bytes = store.get(&meta.location).await.unwrap().bytes().await.unwrap();
            let name = meta.location.filename().unwrap().to_owned();
            objects.insert(name, bytes.to_vec());
        }
        objects
    })
}

fn put(store: &InMemory, name: &str, bytes: &[u8]) {
    let key = Key::from("d").join(name);
    run(store.put(&key, bytes.to_vec().into())).unwrap();
}

fn ask(disc: &mut ObjectDisc, request: Request, data: Vec<u8>) -> Result<Vec<u8>, String> {
    let done = wait_for(disc, Nanos::ZERO, request, data).unwrap();
    done.outcome.map(|()| done.data).map_err(|error| error.to_string())
}

fn read(disc: &mut ObjectDisc, at: usize, length: usize) -> Result<Vec<u8>, String> {
    ask(disc, Request::new(Op::Read, at as u64, length as u64), vec![0xEE; length])
}

fn write(disc: &mut ObjectDisc, at: usize, bytes: Vec<u8>) -> Result<Vec<u8>, String> {
    ask(disc, Request::new(Op::Write, at as u64, bytes.len() as u64), bytes)
}

fn zero(disc: &mut ObjectDisc, at: usize, length: usize) -> Result<Vec<u8>, String> {
    let request = Request::new(Op::Discard, at as u64, length as u64);
    ask(disc, Request { zeros: true, ..request }, Vec::new())
}

fn flush(disc: &mut ObjectDisc) -> Result<Vec<u8>, String> {
    ask(disc, Request::new(Op::Flush, 0, 0), Vec::new())
}

#[derive(Clone, Debug)]
enum Step {
    Write { at: usize, length: usize, first: u8, durable: bool },
    Zeros { at: usize, length: usize },
    Read { at: usize, length: usize },
    Flush,
    Restart,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let range = || (0..SIZE, 1..3 * CHUNK);
    let written = (range(), 0..4_u8, proptest::bool::weighted(0.1));
    let step = prop_oneof![
        6 => written.prop_map(|((at, length), first, durable)| {
            Step::Write { at, length, first, durable }
        }),
        2 => range().prop_map(|(at, length)| Step::Zeros { at, length }),
        1 => (0..20_usize).prop_map(|chunk| Step::Zeros { at: chunk * CHUNK, length: CHUNK }),
        6 => range().prop_map(|(at, length)| Step::Read { at, length }),
        1 => Just(Step::Flush),
        1 => Just(Step::Restart),
    ];
    proptest::collection::vec(step, 1..60)
}

/// Requests under way, with what reads must give.
#[derive(Default)]
struct UnderWay(Vec<(std::ops::Range<usize>, Option<Vec<u8>>)>);

impl UnderWay {
    /// Submits a request. One that overlaps waits for all others, as their order is not defined.
    fn submit(
        &mut self,
        disc: &mut ObjectDisc,
        request: Request,
        data: Vec<u8>,
        want: Option<Vec<u8>>,
    ) {
        let at = usize::try_from(request.offset).unwrap();
        let range = at..at + usize::try_from(request.length_bytes).unwrap();
        let meets = |(other, _): &(std::ops::Range<usize>, _)| {
            other.start < range.end && range.start < other.end
        };
        if self.0.iter().any(meets) {
            self.settle(disc);
        }
        let task = u32::try_from(self.0.len()).unwrap();
        disc.submit(Nanos::ZERO, Request { task, ..request }, data);
        self.0.push((range, want));
    }

    fn settle(&mut self, disc: &mut ObjectDisc) {
        for _ in 0..self.0.len() {
            let done = disc.next_completion(Nanos::MAX).unwrap();
            assert_eq!(done.outcome, Ok(()));
            let want = self.0[done.request.task as usize].1.take();
            assert!(want.is_none_or(|want| want == done.data), "{:?}", done.request);
        }
        self.0.clear();
    }
}

/// Zeros, or bytes that tell their places.
fn bytes(length: usize, first: u8) -> Vec<u8> {
    let byte = |at: usize| u8::try_from(at % 83).unwrap() * 3 + first;
    (0..length).map(|at| if first == 0 { 0 } else { byte(at) }).collect()
}

/// The oracle: an array.
fn check(steps: Vec<Step>) {
    let store = Arc::new(InMemory::new());
    let (mut disc, mut array) = (open(&store), vec![0; SIZE]);
    let mut under_way = UnderWay::default();
    let request = |op, at: usize, length: usize| Request::new(op, at as u64, length as u64);
    for step in steps {
        match step {
            Step::Write { at, length, first, durable } => {
                let bytes = bytes(length.min(SIZE - at), first);
                array[at..at + bytes.len()].copy_from_slice(&bytes);
                let write = Request { durable, ..request(Op::Write, at, bytes.len()) };
                under_way.submit(&mut disc, write, bytes, None);
            }
            Step::Zeros { at, length } => {
                let length = length.min(SIZE - at);
                array[at..at + length].fill(0);
                let zeros = Request { zeros: true, ..request(Op::Discard, at, length) };
                under_way.submit(&mut disc, zeros, Vec::new(), None);
            }
            Step::Read { at, length } => {
                let length = length.min(SIZE - at);
                let want = array[at..at + length].to_vec();
                let read = request(Op::Read, at, length);
                under_way.submit(&mut disc, read, vec![0xEE; length], Some(want));
            }
            Step::Flush => {
                under_way.settle(&mut disc);
                flush(&mut disc).unwrap();
                check_objects(&store, &array);
            }
            Step::Restart => {
                under_way.settle(&mut disc);
                flush(&mut disc).unwrap();
                drop(disc);
                disc = open(&store);
            }
        }
    }
    under_way.settle(&mut disc);
    assert!(read(&mut disc, 0, SIZE).unwrap() == array);
    flush(&mut disc).unwrap();
    assert!(read(&mut disc, 0, SIZE).unwrap() == array);
    check_objects(&store, &array);
}

/// What is documented: a chunk is an object of its size, or one of zeros, or none.
fn check_objects(store: &InMemory, array: &[u8]) {
    let objects = objects(store);
    for (number, chunk) in array.chunks(CHUNK).enumerate() {
        match objects.get(&format!("{number:08}")) {
            None => assert!(chunk.iter().all(|&byte| byte == 0), "{number}"),
            Some(bytes) if bytes == ZEROS => {
                assert!(chunk.iter().all(|&byte| byte == 0), "{number}");
            }
            Some(bytes) => {
                assert!(bytes.len() == CHUNK && bytes[..chunk.len()] == *chunk, "{number}");
                assert!(bytes[chunk.len()..].iter().all(|&byte| byte == 0), "{number}");
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn it_holds_what_an_array_holds(steps in steps()) {
        check(steps);
    }
}

#[test]
fn writes_are_coalesced_until_a_flush() {
    let store = Arc::new(InMemory::new());
    let mut disc = open(&store);
    for at in 0..8 {
        write(&mut disc, at * 512, vec![7; 512]).unwrap();
    }
    write(&mut disc, CHUNK, vec![7; 512]).unwrap();
    assert_eq!(objects(&store).len(), 2, "a manifest and a lease");
    flush(&mut disc).unwrap();
    let first = objects(&store);
    assert!(first["00000000"] == [7; CHUNK] && first.len() == 4);
    flush(&mut disc).unwrap();
    assert_eq!(objects(&store).len(), 4);
    // Three chunks fit into memory: a fourth one makes room.
    for chunk in 4..8 {
        write(&mut disc, chunk * CHUNK, vec![8; CHUNK]).unwrap();
    }
    assert!(objects(&store).contains_key("00000004"));
}

#[test]
fn a_durable_write_is_in_the_store() {
    let store = Arc::new(InMemory::new());
    let mut disc = open(&store);
    write(&mut disc, CHUNK, vec![1; CHUNK]).unwrap();
    let durable = Request { durable: true, ..Request::new(Op::Write, 0, 512) };
    ask(&mut disc, durable, vec![7; 512]).unwrap();
    let objects = objects(&store);
    assert_eq!(objects["00000000"][..512], [7; 512]);
    assert!(!objects.contains_key("00000001"), "it waits for its own chunk");
}

#[test]
fn zeros_take_no_room_in_the_store() {
    let store = Arc::new(InMemory::new());
    let mut disc = open(&store);
    zero(&mut disc, 0, SIZE).unwrap();
    write(&mut disc, 5 * CHUNK, vec![0; CHUNK]).unwrap();
    flush(&mut disc).unwrap();
    assert_eq!(objects(&store).len(), 2, "what has no object stays so");
    write(&mut disc, 0, vec![1; 2 * CHUNK]).unwrap();
    flush(&mut disc).unwrap();
    let trim = Request::new(Op::Discard, 512, 2 * CHUNK as u64 - 512);
    ask(&mut disc, trim, Vec::new()).unwrap();
    flush(&mut disc).unwrap();
    let objects = objects(&store);
    assert!(objects["00000000"] == [1; CHUNK], "a trim leaves parts alone");
    assert_eq!(objects["00000001"], ZEROS);
    drop(disc);
    let mut disc = open(&store);
    let read = read(&mut disc, 0, 2 * CHUNK).unwrap();
    assert!(read[..CHUNK] == [1; CHUNK] && read[CHUNK..] == [0; CHUNK]);
}

#[test]
fn a_chunk_of_a_wrong_size_is_refused_until_it_is_written() {
    let store = Arc::new(InMemory::new());
    drop(open(&store));
    put(&store, "00000002", &[1; 100]);
    put(&store, "00000003", &vec![1; ZEROS.len()]);
    let mut disc = open(&store);
    assert_eq!(read(&mut disc, 0, CHUNK), Ok(vec![0; CHUNK]));
    let said = read(&mut disc, 3 * CHUNK - 1, 1).unwrap_err();
    assert!(
        said.contains("s3+chunks://b/d/00000002 has 100 B, and is no chunk of 4096 B"),
        "{said}"
    );
    assert!(disc.complaint().unwrap().contains("100 B"));
    assert!(read(&mut disc, 3 * CHUNK, 1).unwrap_err().contains("has 20 B"));
    assert!(write(&mut disc, 2 * CHUNK, vec![3; 512]).unwrap_err().contains("has 100 B"));
    write(&mut disc, 2 * CHUNK, vec![3; CHUNK]).unwrap();
    write(&mut disc, 2 * CHUNK + 8, vec![4; 8]).unwrap();
    flush(&mut disc).unwrap();
    assert_eq!(read(&mut disc, 2 * CHUNK + 4, 8), Ok(vec![3, 3, 3, 3, 4, 4, 4, 4]));
    drop(disc);
    // The disc has a part of its last chunk, and to write this part is enough.
    put(&store, "00000020", &[1; 100]);
    let mut disc = open(&store);
    assert!(write(&mut disc, 20 * CHUNK, vec![5; 100]).unwrap_err().contains("has 100 B"));
    write(&mut disc, 20 * CHUNK, vec![5; 512]).unwrap();
    flush(&mut disc).unwrap();
    assert_eq!(objects(&store)["00000020"], [vec![5; 512], vec![0; CHUNK - 512]].concat());
}

#[test]
fn what_is_no_such_disc_is_refused() {
    let check = |objects: &[(&str, &str)], size_bytes: Option<u64>, want: &str| {
        let store = Arc::new(InMemory::new());
        for (name, text) in objects {
            put(&store, name, text.as_bytes());
        }
        let said = open_as(&store, opening("a", size_bytes, false)).err().unwrap().to_string();
        assert!(said.contains(want) && !said.contains('\n'), "{said}");
    };
    let of = |size: u64| {
        format!(r#"{{"format":"nbuf.chunks/1","size_bytes":{size},"chunk_bytes":4096}}"#)
    };
    check(&[], None, "there is no disc at s3+chunks://b/d: add ?size=10GiB");
    check(&[], Some(513), "no disc of chunks has 513 B (it has sectors of 512 B");
    check(&[("00000001", "")], Some(8192), "it has chunks without a manifest");
    check(&[("manifest", "x")], Some(8192), "s3+chunks://b/d/manifest is not of a disc of chunks");
    check(&[("manifest", &*of(4096))], Some(8192), "has 4096 B, not 8192 B: leave out ?size=");
    check(
        &[("manifest", &*of(512)), ("lease", "{}")],
        None,
        "b/d/lease is not of a disc of chunks",
    );
    let store = Arc::new(InMemory::new());
    let said = open_as(&store, opening("a", Some(4096), true)).err().unwrap().to_string();
    assert!(said.contains("there is no disc"), "{said}");
    assert_eq!(objects(&store).len(), 0);
}
