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
use super::*;

/// How a request goes.
enum Turn {
    /// It arrives, and its answer is lost.
    Lost,
}

/// A store in memory. The next requests for chunks take these turns.
struct Turns {
    store: Arc<InMemory>,
    puts: Mutex<VecDeque<Turn>>,
}

impl Turns {
    fn new() -> Arc<Self> {
        Arc::new(Self { store: Arc::new(InMemory::new()), puts: Mutex::default() })
    }

    /// The turn of a PUT that comes.
    fn put_is(&self, turn: Turn) {
        lock(&self.puts).push_back(turn);
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
        self.store.get_opts(key, options)
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
