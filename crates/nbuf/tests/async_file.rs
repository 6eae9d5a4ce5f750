//! A cached file for tasks of tokio, against a plain array and against the file behind it.

use std::future::Future;
use std::io::{ErrorKind, SeekFrom};
use std::pin::pin;
use std::task::{Context, Waker};

use nbuf::cached_file::{AsyncCachedFile, CachedFile, Options};
use nbuf::internal::clock::Random;
use tokio::io::{AsyncReadExt, AsyncSeekExt, AsyncWriteExt};

/// Two frames of pages, so that most requests wait for the disc.
fn small() -> Options {
    Options { cache_bytes: 8 << 10, creates: true, ..Options::default() }
}

fn on_one_thread<T>(work: impl Future<Output = T>) -> T {
    let mut runtime = tokio::runtime::Builder::new_current_thread();
    runtime.enable_all().build().unwrap().block_on(work)
}

fn bytes(random: &mut Random, length: usize) -> Vec<u8> {
    (0..length).map(|_| u8::try_from(random.below(256)).unwrap()).collect()
}

#[test]
fn it_reads_and_writes_as_a_plain_array_does() {
    let place = tempfile::tempdir().unwrap();
    let path = place.path().join("file");
    let mut twin: Vec<u8> = Vec::new();
    on_one_thread(async {
        let mut file = AsyncCachedFile::new(CachedFile::open(&path, &small()).unwrap()).unwrap();
        let mut random = Random::new(21);
        let mut at = 0_usize;
        for _ in 0..3000 {
            let length = usize::try_from(random.below(9000)).unwrap();
            match random.below(8) {
                0 => file.flush().await.unwrap(),
                1..=3 => {
                    at = usize::try_from(random.below(200_000)).unwrap();
                    let end = i64::try_from(at).unwrap() - i64::try_from(twin.len()).unwrap();
                    let to = match random.below(2) {
                        0 => SeekFrom::Start(at as u64),
                        _ => SeekFrom::End(end),
                    };
                    assert_eq!(file.seek(to).await.unwrap(), at as u64);
                }
                4 | 5 => {
                    let data = bytes(&mut random, length);
                    file.write_all(&data).await.unwrap();
                    if !data.is_empty() {
                        twin.resize(twin.len().max(at + length), 0);
                        twin[at..at + length].copy_from_slice(&data);
                        at += length;
                    }
                }
                _ => {
                    let mut data = vec![0; length];
                    let mut got = 0;
                    while got < length {
                        let read = file.read(&mut data[got..]).await.unwrap();
                        if read == 0 {
                            break;
                        }
                        got += read;
                    }
                    let start = at.min(twin.len());
                    assert!(data[..got] == twin[start..(at + length).clamp(start, twin.len())]);
                    at += got;
                }
            }
        }
        file.shutdown().await.unwrap();
        assert_eq!(file.get_ref().owed_bytes(), 0);
        assert!(std::fs::read(&path).unwrap() == twin, "the device has what was written");
    });
}

#[test]
fn one_thread_copies_many_files_at_once() {
    let place = tempfile::tempdir().unwrap();
    let mut random = Random::new(7);
    let wanted: Vec<Vec<u8>> = (0..20).map(|_| bytes(&mut random, 300_001)).collect();
    for (number, data) in wanted.iter().enumerate() {
        std::fs::write(place.path().join(format!("from-{number}")), data).unwrap();
    }
    on_one_thread(async {
        let tasks: Vec<_> = (0..wanted.len())
            .map(|number| {
                let [from, to] = ["from", "to"].map(|name| {
                    let path = place.path().join(format!("{name}-{number}"));
                    AsyncCachedFile::new(CachedFile::open(&path, &small()).unwrap()).unwrap()
                });
                tokio::spawn(copied(from, to))
            })
            .collect();
        for task in tasks {
            assert_eq!(task.await.unwrap(), 300_001);
        }
    });
    for (number, data) in wanted.iter().enumerate() {
        assert!(std::fs::read(place.path().join(format!("to-{number}"))).unwrap() == *data);
    }
}

async fn copied(mut from: AsyncCachedFile, mut to: AsyncCachedFile) -> u64 {
    tokio::io::copy(&mut from, &mut to).await.unwrap()
}

#[test]
fn a_read_that_is_dropped_moves_nothing() {
    let place = tempfile::tempdir().unwrap();
    let path = place.path().join("file");
    std::fs::write(&path, vec![1; 50_000]).unwrap();
    on_one_thread(async {
        let mut file = AsyncCachedFile::new(CachedFile::open(&path, &small()).unwrap()).unwrap();
        let mut data = vec![0; 40_000];
        {
            // Polled once, it has submitted a request.
            let mut read = pin!(file.read(&mut data));
            let mut context = Context::from_waker(Waker::noop());
            let _ = read.as_mut().poll(&mut context);
        }
        let at = file.stream_position().await.unwrap();
        assert!(at == 0 || at == 40_000, "{at}");
        file.rewind().await.unwrap();
        file.write_all(&vec![2; 30_000]).await.unwrap();
        file.rewind().await.unwrap();
        let mut all = Vec::new();
        assert_eq!(file.read_to_end(&mut all).await.unwrap(), 50_000);
        assert!(all[..30_000].iter().all(|&byte| byte == 2));
        assert!(all[30_000..].iter().all(|&byte| byte == 1));
    });
}

#[test]
fn errors_are_those_of_the_file() {
    let place = tempfile::tempdir().unwrap();
    let path = place.path().join("file");
    std::fs::write(&path, "text").unwrap();
    on_one_thread(async {
        let options = Options { is_read_only: true, ..small() };
        let mut file = AsyncCachedFile::new(CachedFile::open(&path, &options).unwrap()).unwrap();
        let refused = file.write_all(b"more").await.unwrap_err();
        assert_eq!(refused.kind(), ErrorKind::PermissionDenied);
        let before = file.seek(SeekFrom::Current(-1)).await.unwrap_err();
        assert_eq!(before.kind(), ErrorKind::InvalidInput);
        let mut text = String::new();
        file.read_to_string(&mut text).await.unwrap();
        assert_eq!(text, "text");
        assert_eq!(file.into_inner().length(), 4);
    });
}
