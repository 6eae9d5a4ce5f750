//! Cached files against a plain array, against the file behind them, and against other writers.

use std::io::{Read, Seek, SeekFrom, Write};
use std::os::unix::fs::FileExt;

use proptest::prelude::*;

use super::*;
use crate::cache::cached::Writes;
use crate::clock::Random;

fn small(writes: Writes, policy: &str) -> Options {
    let policy = policy.parse().unwrap();
    Options { cache_bytes: 8 << 10, page_bytes: 1024, writes, policy, ..Options::default() }
}

/// What is done to a file and to its twin.
#[derive(Clone, Debug)]
enum Step {
    Read(u64, usize),
    Write(u64, usize),
    Flush,
    Sync,
    Resize(u64),
    Reopen,
}

fn step() -> impl Strategy<Value = Step> {
    let span =
        || (0_u64..40_000, prop_oneof![3 => 0_usize..40, 2 => 0_usize..6000, 1 => Just(512)]);
    prop_oneof![
        8 => span().prop_map(|(offset, length)| Step::Read(offset, length)),
        8 => span().prop_map(|(offset, length)| Step::Write(offset, length)),
        4 => (0_u64..70, 1_usize..4)
            .prop_map(|(sector, sectors)| Step::Write(sector * 512, sectors * 512)),
        1 => Just(Step::Flush),
        1 => Just(Step::Sync),
        2 => (0_u64..45_000).prop_map(Step::Resize),
        1 => Just(Step::Reopen),
    ]
}

fn options() -> impl Strategy<Value = Options> {
    let writes = prop_oneof![Just(Writes::Back), Just(Writes::Through), Just(Writes::Around)];
    let policy = prop::sample::select(vec!["lru", "s3-fifo", "clock", "sieve", "arc", "w-tinylfu"]);
    (writes, policy, 1_u64..20, 0_u32..3).prop_map(|(writes, policy, pages, large)| Options {
        cache_bytes: pages * (512 << large),
        page_bytes: 512 << large,
        ..small(writes, policy)
    })
}

/// Bytes of the twin, zeros where it was never written.
fn resize(twin: &mut Vec<u8>, length: usize) {
    twin.resize(length, 0);
}

fn on_disc(file: &CachedFile) -> Vec<u8> {
    let length = usize::try_from(file.file.metadata().unwrap().len()).unwrap();
    let mut bytes = vec![0; length];
    file.file.read_exact_at(&mut bytes, 0).unwrap();
    bytes
}

fn play(steps: &[Step], options: &Options) {
    let mut random = Random::new(1);
    let mut file = CachedFile::temporary(&std::env::temp_dir(), options).unwrap();
    let mut twin: Vec<u8> = Vec::new();
    for step in steps {
        match *step {
            Step::Read(offset, length) => {
                let mut bytes = vec![0xEE; length];
                let read = file.read_at(&mut bytes, offset).unwrap();
                let from = usize::try_from(offset).unwrap().min(twin.len());
                let want = &twin[from..twin.len().min(from + length)];
                assert_eq!(&bytes[..read], want, "{length} B at {offset}");
            }
            Step::Write(offset, length) => {
                let mut bytes = vec![0; length];
                bytes.fill_with(|| u8::try_from(random.below(256)).unwrap());
                assert_eq!(file.write_at(&bytes, offset).unwrap(), length);
                let from = usize::try_from(offset).unwrap();
                if length > 0 {
                    let end = twin.len().max(from + length);
                    resize(&mut twin, end);
                    twin[from..from + length].copy_from_slice(&bytes);
                }
            }
            Step::Flush => file.flush().unwrap(),
            Step::Sync => file.sync().unwrap(),
            Step::Resize(length) => {
                file.set_len(length).unwrap();
                resize(&mut twin, usize::try_from(length).unwrap());
            }
            Step::Reopen => {
                let inner = file.into_file().unwrap();
                file = CachedFile::from_fd(inner.into(), options).unwrap();
            }
        }
        assert_eq!(file.length(), twin.len() as u64);
        file.cache.check().unwrap();
        let is_owed = file.owed_bytes() > 0;
        if matches!(step, Step::Flush | Step::Sync) || !is_owed {
            assert!(on_disc(&file) == twin, "the file is another after {step:?}");
        }
        assert!(!is_owed || options.writes == Writes::Back);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_file_is_an_array_of_bytes(
        steps in prop::collection::vec(step(), 1..60),
        options in options(),
    ) {
        play(&steps, &options);
    }

    /// Many requests under way, none of the same bytes: the order does not matter.
    #[test]
    fn requests_under_way_are_all_served(
        seed in 0_u64..1000,
        lengths in prop::collection::vec(1_usize..3000, 1..40),
        options in options(),
    ) {
        let mut random = Random::new(seed);
        let mut file = CachedFile::temporary(&std::env::temp_dir(), &options).unwrap();
        let mut twin = vec![7; 10];
        file.write_at(&twin, 0).unwrap();
        let mut tickets = Vec::new();
        let mut order: Vec<(usize, usize)> = Vec::new();
        for &length in &lengths {
            order.push((twin.len(), length));
            resize(&mut twin, order[order.len() - 1].0 + length);
        }
        random.shuffle(&mut order);
        for &(from, length) in &order {
            let value = u8::try_from(random.below(256)).unwrap();
            twin[from..from + length].fill(value);
            tickets.push(file.submit_write(vec![value; length], from as u64).unwrap());
        }
        while let Some(done) = file.next_done() {
            done.outcome.unwrap();
            tickets.retain(|&ticket| ticket != done.ticket);
        }
        prop_assert_eq!(&tickets, &[]);
        let reads: HashMap<Ticket, (usize, usize)> = order.iter().map(|&(from, length)| {
            (file.submit_read(vec![0; length], from as u64), (from, length))
        }).collect();
        let synced = file.submit_sync();
        let mut count = 0;
        while let Some(done) = file.next_done() {
            done.outcome.unwrap();
            count += 1;
            if let Some(&(from, length)) = reads.get(&done.ticket) {
                prop_assert!(done.data == twin[from..from + length], "at byte {}", from);
            } else {
                prop_assert_eq!(done.ticket, synced);
            }
        }
        prop_assert_eq!(count, reads.len() + 1);
        prop_assert!(on_disc(&file) == twin);
    }
}

#[test]
fn what_was_synced_is_in_the_file_and_the_rest_follows_when_it_is_dropped() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("file");
    let options = Options { creates: true, ..Options::default() };
    let mut file = CachedFile::open(&path, &options).unwrap();
    file.write_at(b"synced", 3).unwrap();
    assert!(std::fs::read(&path).unwrap().is_empty(), "it is written back later");
    file.sync().unwrap();
    assert_eq!(std::fs::read(&path).unwrap(), b"\0\0\0synced");
    file.write_at(b"later", 9).unwrap();
    drop(file);
    assert_eq!(std::fs::read(&path).unwrap(), b"\0\0\0syncedlater");
    let absent = CachedFile::open(&folder.path().join("absent"), &Options::default()).unwrap_err();
    assert!(absent.to_string().contains("absent: No such file"), "{absent}");
}

#[test]
fn a_second_handle_is_refused_in_one_line_unless_both_only_read() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("file");
    std::fs::write(&path, "contents").unwrap();
    let first = CachedFile::open(&path, &Options::default()).unwrap();
    let refused = CachedFile::open(&path, &Options::default()).unwrap_err();
    assert!(matches!(refused, OpenError::Locked { .. }));
    let said = refused.to_string();
    assert!(said.contains("is locked by another") && !said.contains('\n'), "{said}");
    let inner = first.into_file().unwrap();
    assert!(CachedFile::open(&path, &Options::default()).is_err(), "the file keeps its lock");
    drop(inner);
    let reads = Options { is_read_only: true, ..Options::default() };
    let _both =
        [CachedFile::open(&path, &reads).unwrap(), CachedFile::open(&path, &reads).unwrap()];
    assert!(CachedFile::open(&path, &Options::default()).is_err());
    CachedFile::open(&path, &Options { locks: false, ..Options::default() }).unwrap();
}

#[test]
fn without_the_lock_pages_in_the_cache_stay_as_they_were_read() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("file");
    std::fs::write(&path, vec![1; 8192]).unwrap();
    let options = Options { locks: false, ..Options::default() };
    let mut file = CachedFile::open(&path, &options).unwrap();
    let mut byte = [0];
    file.read_at(&mut byte, 0).unwrap();
    std::fs::OpenOptions::new()
        .write(true)
        .open(&path)
        .unwrap()
        .write_all_at(&[2; 8192], 0)
        .unwrap();
    let mut read = |offset| {
        file.read_at(&mut byte, offset).unwrap();
        byte[0]
    };
    assert_eq!([read(1), read(4096)], [1, 2]);
}

#[test]
fn it_reads_writes_and_seeks_as_the_standard_library_does() {
    let mut file =
        CachedFile::temporary(&std::env::temp_dir(), &small(Writes::Back, "lru")).unwrap();
    let mut plain = tempfile::tempfile().unwrap();
    let text = (0..3000).map(|line| line.to_string()).collect::<Vec<_>>().join("\n");
    for chunk in text.as_bytes().chunks(777) {
        file.write_all(chunk).unwrap();
        plain.write_all(chunk).unwrap();
    }
    let seeks = [
        SeekFrom::End(-5000),
        SeekFrom::Current(-100),
        SeekFrom::Start(1 << 20),
        SeekFrom::Start(1),
    ];
    for seek in seeks {
        assert_eq!(file.seek(seek).unwrap(), plain.seek(seek).unwrap());
        let (mut ours, mut theirs) = (String::new(), String::new());
        file.read_to_string(&mut ours).unwrap();
        plain.read_to_string(&mut theirs).unwrap();
        assert_eq!(ours, theirs);
    }
    assert!(file.seek(SeekFrom::Current(i64::MIN)).is_err());
    // The descriptor has what was flushed.
    file.flush().unwrap();
    let inner = File::from(file.as_fd().try_clone_to_owned().unwrap());
    let mut bytes = vec![0; text.len()];
    inner.read_exact_at(&mut bytes, 0).unwrap();
    assert!(bytes == text.as_bytes());
}

#[test]
fn what_cannot_be_opened_or_written_says_why() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("file");
    std::fs::write(&path, "contents").unwrap();
    let plain = Options::default();
    let said = |opened: Result<CachedFile, OpenError>| opened.unwrap_err().to_string();
    assert!(said(CachedFile::open(folder.path(), &plain)).contains("not a regular file"));
    assert!(
        said(CachedFile::open(std::path::Path::new("/dev/null"), &plain)).contains("not a regular")
    );
    let appends = std::fs::OpenOptions::new().append(true).read(true).open(&path).unwrap();
    assert!(said(CachedFile::from_fd(appends.into(), &plain)).contains("open to append"));
    for wrong in [
        Options { cache_bytes: 4095, ..plain },
        Options { page_bytes: 1000, ..plain },
        Options { policy: "opt".parse().unwrap(), ..plain },
    ] {
        assert!(matches!(CachedFile::open(&path, &wrong), Err(OpenError::Options { .. })));
    }
    let reads = File::open(&path).unwrap();
    let mut file = CachedFile::from_fd(reads.into(), &plain).unwrap();
    assert_eq!(file.write_at(b"x", 0).unwrap_err().kind(), io::ErrorKind::PermissionDenied);
    assert_eq!(file.set_len(0).unwrap_err().kind(), io::ErrorKind::PermissionDenied);
    drop(file);
    let mut file = CachedFile::open(&path, &plain).unwrap();
    assert_eq!(file.write_at(b"x", u64::MAX).unwrap_err().kind(), io::ErrorKind::FileTooLarge);
    assert_eq!((file.read_at(&mut [0], u64::MAX).unwrap(), file.length()), (0, 8));
}

/// The kernel refuses to let the file grow beyond what a limit or a full file system permits; here, `/dev/full`
/// cannot be opened as a file, so a sealed one stands for it.
#[test]
fn what_the_file_refuses_is_reported_and_stays_owed() {
    let sealed = rustix::fs::memfd_create("nbuf", rustix::fs::MemfdFlags::ALLOW_SEALING).unwrap();
    rustix::fs::ftruncate(&sealed, 8192).unwrap();
    rustix::fs::fcntl_add_seals(&sealed, rustix::fs::SealFlags::GROW).unwrap();
    let options = Options { locks: false, ..Options::default() };
    let mut file = CachedFile::from_fd(sealed, &options).unwrap();
    file.write_at(&[1; 4096], 4096).unwrap();
    file.sync().unwrap();
    file.write_at(&[2; 4096], 8192).unwrap();
    assert!(file.flush().is_err() && file.owed_bytes() == 4096);
    assert!(file.sync().is_err());
    // What is gone is not owed any more.
    file.set_len(8192).unwrap();
    assert_eq!(file.owed_bytes(), 0);
    file.flush().unwrap();
    let mut bytes = [0; 4096];
    assert_eq!(file.read_at(&mut bytes, 4096).unwrap(), 4096);
    assert_eq!(bytes, [1; 4096]);
}

#[test]
fn a_loop_waits_for_its_descriptor_alone() {
    let mut file = CachedFile::temporary(&std::env::temp_dir(), &Options::default()).unwrap();
    file.set_len(1 << 20).unwrap();
    let tickets: Vec<_> =
        (0..64).map(|page| file.submit_read(vec![9; 4096], page * 16384)).collect();
    let mut done = Vec::new();
    while done.len() < tickets.len() {
        while let Some(one) = file.try_done() {
            assert_eq!(one.data, [0; 4096]);
            done.push(one.ticket);
        }
        if done.len() < tickets.len() {
            let wake = file.wake_fd();
            let mut fds = [rustix::event::PollFd::new(&wake, rustix::event::PollFlags::IN)];
            let limit = rustix::event::Timespec { tv_sec: 20, tv_nsec: 0 };
            assert!(rustix::event::poll(&mut fds, Some(&limit)).unwrap() == 1, "it never woke");
        }
    }
    assert!(file.try_done().is_none() && file.next_done().is_none());
}

#[test]
fn a_length_that_the_kernel_refuses_changes_nothing() {
    use rustix::fs::{MemfdFlags, SealFlags, fcntl_add_seals, memfd_create};
    let memory = memfd_create("sealed", MemfdFlags::ALLOW_SEALING).unwrap();
    File::from(memory.try_clone().unwrap()).set_len(5000).unwrap();
    fcntl_add_seals(&memory, SealFlags::SHRINK | SealFlags::GROW).unwrap();
    let mut file = CachedFile::from_fd(memory, &small(Writes::Back, "lru")).unwrap();
    file.write_at(&[7; 100], 4000).unwrap();
    for length in [1000, 9000] {
        assert!(file.set_len(length).is_err());
        assert_eq!(file.length(), 5000);
    }
    let mut read = [0; 100];
    assert_eq!(file.read_at(&mut read, 4000).unwrap(), 100);
    assert_eq!(read, [7; 100]);
    file.sync().unwrap();
    assert_eq!(on_disc(&file)[4000..4100], [7; 100]);
}
