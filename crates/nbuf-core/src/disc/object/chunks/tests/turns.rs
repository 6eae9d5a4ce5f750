//! Requests for chunks that go as a test wants it, in the order of a store in memory.

use std::collections::VecDeque;
use std::fmt;
use std::sync::Mutex;

use futures_util::future::BoxFuture;
use futures_util::stream::BoxStream;
use object_store::{CopyOptions, Error, GetOptions, GetResult, ListResult, MultipartUpload};
use object_store::{ObjectMeta, PutMultipartOptions, PutOptions, PutPayload, PutResult};

use super::super::super::super::DiscError;
use super::super::super::super::done::lock;
use super::super::layout::name;
use super::*;

/// Work of a test.
type Work = BoxFuture<'static, ()>;

/// How a request goes.
enum Turn {
    /// It arrives when this work is done.
    Late(Work),
    /// It arrives, and its answer comes when this work is done.
    Slow(Work),
    /// The same, where the answer is lost and the client has sent it again.
    Twice(Work),
    /// The store refuses its condition, whether that holds or not.
    Refused,
    /// It arrives, and its answer is lost.
    Lost,
}

/// A store in memory. The next requests for chunks take these turns.
struct Turns {
    store: Arc<InMemory>,
    puts: Mutex<VecDeque<Turn>>,
    gets: Mutex<VecDeque<Turn>>,
}

impl Turns {
    fn new() -> Arc<Self> {
        let (puts, gets) = (Mutex::default(), Mutex::default());
        Arc::new(Self { store: Arc::new(InMemory::new()), puts, gets })
    }

    /// The turn of a PUT that comes.
    fn put_is(&self, turn: Turn) {
        lock(&self.puts).push_back(turn);
    }

    /// The turn of a GET that comes.
    fn get_is(&self, turn: Turn) {
        lock(&self.gets).push_back(turn);
    }
}

/// The turn of a request for this object.
fn next(turns: &Mutex<VecDeque<Turn>>, key: &Key) -> Option<Turn> {
    let is_number = |name: &str| name.bytes().all(|byte| byte.is_ascii_digit());
    if key.filename().is_some_and(is_number) { lock(turns).pop_front() } else { None }
}

impl fmt::Debug for Turns {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Turns").finish_non_exhaustive()
    }
}

impl fmt::Display for Turns {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.store, f)
    }
}

impl ObjectStore for Turns {
    fn put_opts<'a, 'b, 'c>(
        &'a self,
        key: &'b Key,
        payload: PutPayload,
        options: PutOptions,
    ) -> BoxFuture<'c, object_store::Result<PutResult>>
    where
        'a: 'c,
        'b: 'c,
        Self: 'c,
    {
        Box::pin(async move {
            let turn = next(&self.puts, key);
            let send = || self.store.put_opts(key, payload.clone(), options.clone());
            match turn {
                None => send().await,
                Some(Turn::Late(work)) => {
                    work.await;
                    send().await
                }
                Some(Turn::Slow(work)) => {
                    let answer = send().await;
                    work.await;
                    answer
                }
                Some(Turn::Twice(work)) => {
                    let _ = send().await;
                    work.await;
                    send().await
                }
                Some(Turn::Refused) => {
                    let (path, source) = (key.to_string(), "refused by a test".into());
                    Err(Error::Precondition { path, source })
                }
                Some(Turn::Lost) => {
                    let _ = send().await;
                    Err(Error::Generic { store: "test", source: "the answer is lost".into() })
                }
            }
        })
    }

    fn get_opts<'a, 'b, 'c>(
        &'a self,
        key: &'b Key,
        options: GetOptions,
    ) -> BoxFuture<'c, object_store::Result<GetResult>>
    where
        'a: 'c,
        'b: 'c,
        Self: 'c,
    {
        Box::pin(async move {
            match next(&self.gets, key) {
                Some(Turn::Late(work)) => {
                    work.await;
                    self.store.get_opts(key, options).await
                }
                Some(Turn::Slow(work)) => {
                    let answer = self.store.get_opts(key, options).await;
                    work.await;
                    answer
                }
                _ => self.store.get_opts(key, options).await,
            }
        })
    }

    fn put_multipart_opts<'a, 'b, 'c>(
        &'a self,
        key: &'b Key,
        options: PutMultipartOptions,
    ) -> BoxFuture<'c, object_store::Result<Box<dyn MultipartUpload>>>
    where
        'a: 'c,
        'b: 'c,
        Self: 'c,
    {
        self.store.put_multipart_opts(key, options)
    }

    fn delete_stream(
        &self,
        keys: BoxStream<'static, object_store::Result<Key>>,
    ) -> BoxStream<'static, object_store::Result<Key>> {
        self.store.delete_stream(keys)
    }

    fn list(&self, prefix: Option<&Key>) -> BoxStream<'static, object_store::Result<ObjectMeta>> {
        self.store.list(prefix)
    }

    fn list_with_delimiter<'a, 'b, 'c>(
        &'a self,
        prefix: Option<&'b Key>,
    ) -> BoxFuture<'c, object_store::Result<ListResult>>
    where
        'a: 'c,
        'b: 'c,
        Self: 'c,
    {
        self.store.list_with_delimiter(prefix)
    }

    fn copy_opts<'a, 'b, 'c, 'd>(
        &'a self,
        from: &'b Key,
        to: &'c Key,
        options: CopyOptions,
    ) -> BoxFuture<'d, object_store::Result<()>>
    where
        'a: 'd,
        'b: 'd,
        'c: 'd,
        Self: 'd,
    {
        self.store.copy_opts(from, to, options)
    }
}

async fn opened(store: &Arc<Turns>) -> Arc<Chunks> {
    let store: Arc<dyn ObjectStore> = store.clone();
    let opening = opening("a", Some(SIZE as u64), false);
    Arc::new(Chunks::open((store, Key::from("d")), &opening).await.unwrap())
}

/// The object of a chunk.
async fn object(store: &Turns, chunk: u32) -> Vec<u8> {
    let key = Key::from("d").join(name(chunk));
    store.store.get(&key).await.unwrap().bytes().await.unwrap().to_vec()
}

/// Another server writes this to a chunk.
fn other_writes(store: &Turns, chunk: u32, bytes: Vec<u8>) -> Work {
    let (store, key) = (Arc::clone(&store.store), Key::from("d").join(name(chunk)));
    Box::pin(async move {
        store.put(&key, bytes.into()).await.unwrap();
    })
}

/// The lease ends, as with time.
fn lease_ends(disc: &Arc<Chunks>) -> Work {
    let disc = Arc::clone(disc);
    Box::pin(async move { disc.shared.lease.as_ref().unwrap().expire() })
}

fn owes(disc: &Chunks) -> bool {
    !lock(&disc.shared.table).owed().is_empty()
}

#[test]
fn no_put_is_acknowledged_after_the_lease_ended() {
    let store = Turns::new();
    run(async {
        let disc = opened(&store).await;
        let (lease, objects) = (disc.shared.lease.as_ref().unwrap(), &disc.shared.objects);
        // The store acknowledges the one; the other is found there, as its first answer was lost.
        for (chunk, turn) in
            [(0, Turn::Slow(lease_ends(&disc))), (1, Turn::Twice(lease_ends(&disc)))]
        {
            let offset = u64::from(chunk) * CHUNK as u64;
            disc.write(offset, &[7; CHUNK], false).await.unwrap();
            store.put_is(turn);
            let said = disc.flush().await.unwrap_err().to_string();
            assert!(said.contains("was not renewed in time (no answer)"), "{chunk}: {said}");
            // It has arrived, and the next owner may not have listed it.
            assert!(object(&store, chunk).await == [7; CHUNK] && owes(&disc), "{chunk}");
            assert!(disc.flush().await.is_err() && owes(&disc), "{chunk}");
            lease.renew(objects).await.unwrap();
            disc.flush().await.unwrap();
            assert!(object(&store, chunk).await == [7; CHUNK] && !owes(&disc), "{chunk}");
        }
        // The same of a durable write.
        disc.write(0, &[8; CHUNK], false).await.unwrap();
        store.put_is(Turn::Slow(lease_ends(&disc)));
        let said = disc.write(0, &[9; 512], true).await.unwrap_err().to_string();
        assert!(said.contains("was not renewed in time"), "{said}");
        lease.renew(objects).await.unwrap();
        disc.flush().await.unwrap();
        assert!(object(&store, 0).await[..1024] == [[9; 512], [8; 512]].concat());
        disc.close().await;
    });
}

#[test]
fn a_refused_condition_of_an_unchanged_object_is_no_other_writer() {
    let store = Turns::new();
    run(async {
        let mut disc = opened(&store).await;
        // A chunk without an object, one whose object has other bytes, and one whose object has the same.
        for value in [1, 2, 2] {
            disc.write(0, &[value; CHUNK], false).await.unwrap();
            store.put_is(Turn::Refused);
            disc.flush().await.unwrap();
            assert!(object(&store, 0).await == [value; CHUNK] && !owes(&disc));
        }
        // After three tries it stays owed, and the next flush tries again.
        disc.write(0, &[3; CHUNK], false).await.unwrap();
        for _ in 0..3 {
            store.put_is(Turn::Refused);
        }
        let said = disc.flush().await.unwrap_err().to_string();
        assert!(said.contains("its version changes again and again"), "{said}");
        assert!(object(&store, 0).await == [2; CHUNK] && owes(&disc));
        disc.flush().await.unwrap();
        assert!(object(&store, 0).await == [3; CHUNK]);
        disc.close().await;
        // An object that was only listed.
        disc = opened(&store).await;
        disc.write(0, &[4; CHUNK], false).await.unwrap();
        store.put_is(Turn::Refused);
        disc.flush().await.unwrap();
        assert!(object(&store, 0).await == [4; CHUNK]);
        // A changed one is of another server.
        disc.write(0, &[5; CHUNK], false).await.unwrap();
        store.put_is(Turn::Late(other_writes(&store, 0, vec![6; CHUNK])));
        let said = disc.flush().await.unwrap_err().to_string();
        assert!(said.contains("another server has written"), "{said}");
        assert!(object(&store, 0).await == [6; CHUNK]);
        disc.close().await;
    });
}

/// A PUT whose answer is lost overtakes a read. Before the read has looked at what is there, the second try ends.
#[test]
fn a_read_that_two_tries_of_a_put_overtake_begins_again() {
    for looks_late in [true, false] {
        let store = Turns::new();
        run(async {
            let disc = opened(&store).await;
            disc.write(0, &[1; CHUNK], false).await.unwrap();
            disc.flush().await.unwrap();
            let own = Arc::clone(&disc);
            let first: Work = Box::pin(async move {
                own.write(0, &[2; CHUNK], false).await.unwrap();
                own.flush().await.unwrap_err();
            });
            let own = Arc::clone(&disc);
            let second: Work = Box::pin(async move {
                own.write(0, &[3; 512], false).await.unwrap();
                own.flush().await.unwrap();
            });
            store.put_is(Turn::Lost);
            store.get_is(Turn::Late(first));
            store.get_is(if looks_late { Turn::Late(second) } else { Turn::Slow(second) });
            let mut room = [0; 1024];
            disc.read(0, &mut room).await.unwrap();
            assert!(room[..512] == [3; 512] && room[512..] == [2; 512], "{looks_late}");
            disc.write(0, &[4; 512], false).await.unwrap();
            disc.flush().await.unwrap();
            assert!(object(&store, 0).await[..1024] == [[4; 512], [2; 512]].concat());
            disc.close().await;
        });
    }
}

#[test]
fn a_refused_flush_says_whether_a_later_one_can_succeed() {
    let store = Turns::new();
    let mut disc = open_as(&store, opening("a", Some(SIZE as u64), false)).unwrap();
    let ask = |disc: &mut ObjectDisc, request: Request, data: Vec<u8>| {
        wait_for(disc, Nanos::ZERO, request, data).unwrap().outcome
    };
    let flush = Request::new(Op::Flush, 0, 0);
    write(&mut disc, 0, vec![1; CHUNK]).unwrap();
    store.put_is(Turn::Lost);
    let refused = ask(&mut disc, flush, Vec::new());
    assert!(matches!(refused, Err(DiscError::Owed { .. })), "{refused:?}");
    assert_eq!(ask(&mut disc, flush, Vec::new()), Ok(()));
    // A refused write says nothing of what is kept.
    let durable = Request { durable: true, ..Request::new(Op::Write, 0, 512) };
    store.put_is(Turn::Lost);
    let refused = ask(&mut disc, durable, vec![2; 512]);
    assert!(matches!(refused, Err(DiscError::Failed { .. })), "{refused:?}");
    // Nothing helps when another server has written the chunk.
    put(&store.store, "00000000", &[3; CHUNK]);
    for _ in 0..2 {
        let refused = ask(&mut disc, flush, Vec::new());
        assert!(matches!(refused, Err(DiscError::Failed { .. })), "{refused:?}");
    }
}
