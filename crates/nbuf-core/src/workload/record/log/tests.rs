//! The log as a whole: what goes in comes out, and nothing else does.

use std::io::Write;

use proptest::prelude::*;

use super::*;

fn kinds() -> impl Strategy<Value = Kind> {
    prop_oneof![
        Just(Kind::GetPages),
        Just(Kind::Fault),
        Just(Kind::MapPages),
        Just(Kind::Add),
        Just(Kind::Delete),
        Just(Kind::Write),
        Just(Kind::Read),
    ]
}

/// Numbers of all sizes, small ones as often as large ones.
fn numbers() -> impl Strategy<Value = u64> {
    prop_oneof![0..4_u64, 0..100_000_u64, any::<u64>()]
}

fn events() -> impl Strategy<Value = Entry> {
    let who = (numbers(), 0..3_u32, kinds(), any::<bool>(), numbers());
    (who, numbers(), numbers()).prop_map(|((time_ns, task, kind, other, inode), index, extent)| {
        Entry::Event(Event {
            time_ns,
            task,
            kind,
            device: if other { u32::MAX } else { 8 << 20 },
            inode,
            index,
            extent,
        })
    })
}

fn entries() -> impl Strategy<Value = Entry> {
    let text = || proptest::collection::vec(any::<u8>(), 0..40);
    let path = proptest::option::of(text());
    prop_oneof![
        6 => events(),
        1 => (numbers(), 0..3_u32, numbers(), numbers(), path).prop_map(
            |(time_ns, device, inode, file_bytes, path)| Entry::File(FileSeen {
                time_ns,
                device,
                inode,
                file_bytes,
                path,
            })
        ),
        1 => (numbers(), numbers(), numbers(), numbers(), numbers()).prop_map(
            |(time_ns, anonymous_bytes, shmem_bytes, kernel_bytes, page_cache_bytes)| {
                Entry::Memory(MemorySeen {
                    time_ns,
                    anonymous_bytes,
                    shmem_bytes,
                    kernel_bytes,
                    page_cache_bytes,
                })
            }
        ),
        1 => text().prop_map(Entry::Start),
        1 => text().prop_map(Entry::End),
    ]
}

/// A log with a frame for each of the lists.
fn log_of(frames: &[Vec<Entry>]) -> Vec<u8> {
    let mut writer = LogWriter::new(Vec::new()).unwrap();
    for frame in frames {
        for entry in frame {
            writer.push(entry).unwrap();
        }
        writer.flush_frame().unwrap();
    }
    writer.finish().unwrap()
}

/// Everything readable, the ending, and the frames skipped.
fn read(bytes: &[u8]) -> (Vec<Entry>, Ending, u64) {
    let mut reader = LogReader::new(bytes).unwrap();
    let entries: Vec<Entry> = reader.by_ref().map(Result::unwrap).collect();
    assert!(reader.next().is_none(), "an iterator that ended stays so");
    let ending = reader.ending().unwrap().clone();
    (entries, ending, reader.frames_skipped())
}

fn event(number: u64) -> Entry {
    Entry::Event(Event {
        time_ns: 1_000_000 + number * 4_000,
        task: 77,
        kind: Kind::GetPages,
        device: 8 << 20,
        inode: 12,
        index: number * 7 % 50,
        extent: number * 7 % 50,
    })
}

/// Four frames, the last of which holds the end.
fn small_log() -> (Vec<Vec<Entry>>, Vec<u8>) {
    let frames = vec![
        vec![Entry::Start(b"{}".to_vec()), event(0), event(1)],
        vec![event(2), event(3), event(4)],
        vec![event(5)],
        vec![event(6), Entry::End(b"{\"events\":7}".to_vec())],
    ];
    let bytes = log_of(&frames);
    (frames, bytes)
}

proptest! {
    #[test]
    fn entries_come_back(frames in proptest::collection::vec(
        proptest::collection::vec(entries(), 0..30), 0..5)
    ) {
        let (got, ending, skipped) = read(&log_of(&frames));
        let want: Vec<Entry> = frames.concat();
        prop_assert_eq!(ending == Ending::Clean, matches!(want.last(), Some(Entry::End(_))));
        prop_assert_eq!(got, want);
        prop_assert_eq!(skipped, 0);
    }

    /// Whatever is flipped: a frame is there as it was or not at all, and its absence is counted.
    #[test]
    fn flipped_bytes_invent_nothing(
        flips in proptest::collection::vec((any::<proptest::sample::Index>(), 1..=255_u8), 1..6)
    ) {
        let (frames, mut bytes) = small_log();
        for (place, mask) in flips {
            let place = 16 + place.index(bytes.len() - 16);
            bytes[place] ^= mask;
        }
        let (got, ending, skipped) = read(&bytes);
        let mut rest = &got[..];
        let mut kept = 0;
        for frame in &frames {
            if let Some(after) = rest.strip_prefix(&frame[..]) {
                rest = after;
                kept += 1;
            }
        }
        prop_assert!(rest.is_empty(), "entries that no thread wrote: {rest:?}");
        let last_kept = got.last() == frames[3].last();
        if last_kept {
            prop_assert_eq!(skipped, 4 - kept);
        }
        prop_assert_eq!(ending == Ending::Clean, last_kept);
    }

    #[test]
    fn any_bytes_after_the_header_are_survived(bytes: Vec<u8>) {
        let mut log = log_of(&[vec![event(1)]]);
        log.extend(bytes);
        let (entries, _, _) = read(&log);
        prop_assert_eq!(&entries[0], &event(1));
    }
}

#[test]
fn a_log_cut_anywhere_gives_the_entries_before_the_cut() {
    let (frames, bytes) = small_log();
    let all = frames.concat();
    for cut in 0..bytes.len() {
        let Ok(_) = LogReader::new(&bytes[..cut]) else {
            assert!(cut < 16, "refused at {cut}");
            continue;
        };
        let (got, ending, skipped) = read(&bytes[..cut]);
        assert_eq!(got, all[..got.len()], "cut at {cut}");
        assert_eq!(skipped, 0);
        let Ending::Torn { at_byte, .. } = ending else {
            panic!("cut at {cut} and called clean");
        };
        assert!(at_byte <= cut as u64);
        assert_eq!(read(&bytes[..usize::try_from(at_byte).unwrap()]).0, got);
    }
    assert_eq!(read(&bytes), (all, Ending::Clean, 0));
}

#[test]
fn a_damaged_frame_costs_itself_and_is_counted() {
    let (frames, mut bytes) = small_log();
    let second = log_of(&frames[..1]).len();
    bytes[second + 20] ^= 1;
    let want = [&frames[0][..], &frames[2], &frames[3]].concat();
    assert_eq!(read(&bytes), (want, Ending::Clean, 1));
}

#[test]
fn a_frame_that_comes_twice_is_read_once() {
    let (frames, mut bytes) = small_log();
    let first = log_of(&frames[..1]);
    bytes.extend_from_slice(&first[16..]);
    let (got, ending, _) = read(&bytes);
    assert_eq!(got, frames.concat());
    let at_byte = (bytes.len() - (first.len() - 16)) as u64;
    let reason = Tear::Damaged;
    assert_eq!(ending, Ending::Torn { at_byte, reason });
}

/// Rounds every write up to a block with zeros, as a writer with `O_DIRECT` must.
struct Blocks(Vec<u8>, usize);

impl Write for Blocks {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        let blocks = self.0.len().div_ceil(self.1);
        self.0.resize(blocks * self.1, 0);
        Ok(())
    }
}

#[test]
fn padding_between_frames_is_passed_over() {
    for block in [1, 17, 4096, 1 << 17] {
        let mut writer = LogWriter::new(Blocks(Vec::new(), block)).unwrap();
        let mut want = Vec::new();
        for number in 0..100 {
            want.push(event(number));
            writer.push(&event(number)).unwrap();
            if number % 30 == 0 {
                writer.flush_frame().unwrap();
            }
        }
        want.push(Entry::End(Vec::new()));
        writer.push(&Entry::End(Vec::new())).unwrap();
        let bytes = writer.finish().unwrap().0;
        assert_eq!(read(&bytes), (want, Ending::Clean, 0), "blocks of {block}");
    }
}

#[test]
fn what_is_not_a_log_is_refused_by_name() {
    let refusal = |bytes: &[u8]| LogReader::new(bytes).unwrap_err().to_string();
    let (_, mut bytes) = small_log();
    assert!(refusal(b"").contains("nothing was recorded"));
    assert!(refusal(&bytes[..9]).contains("at byte 9"));
    assert!(refusal(b"PAR1").contains("not a log"));
    assert!(refusal(b"PAR1, and much that follows it").contains("not a log"));
    bytes[8] = 2;
    assert!(refusal(&bytes).contains("version 2"));
}

#[test]
fn an_entry_may_be_larger_than_a_frame_but_not_than_32_mib() {
    let large = Entry::Start(vec![7; 200_000]);
    let frames = vec![vec![event(1), large, event(2), Entry::End(vec![1; 70_000])]];
    assert_eq!(read(&log_of(&frames)), (frames.concat(), Ending::Clean, 0));

    let mut writer = LogWriter::new(Vec::new()).unwrap();
    let refused = writer.push(&Entry::End(vec![0; 32 << 20])).unwrap_err();
    assert_eq!(refused.kind(), std::io::ErrorKind::InvalidInput);
    writer.push(&event(3)).unwrap();
    assert_eq!(read(&writer.finish().unwrap()).0, [event(3)]);
}

/// A stream such as a database makes: point reads all over a 256 MiB file in single pages, each
/// first adding the page when it is not there, three tasks, every tenth access to a journal.
fn database_like(events: u64) -> Vec<Event> {
    let mut seed = 1_u64;
    let mut random = move || {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        seed >> 33
    };
    let mut made = Vec::new();
    let mut time_ns = 5_000_000_000;
    while (made.len() as u64) < events {
        time_ns += 1_500 + random() % 6_000;
        let page = random() % 65_536;
        let mut event = Event {
            time_ns,
            task: 4_000 + u32::try_from(random() % 30 / 28).unwrap(),
            kind: Kind::GetPages,
            device: (259 << 20) | 3,
            inode: 9_437_201,
            index: page,
            extent: page,
        };
        if random() % 10 == 0 {
            event.inode += 5;
            event.kind = Kind::Write;
            event.index = made.len() as u64 * 512;
            event.extent = 512;
        }
        made.push(event);
        if random() % 3 == 0 && event.kind == Kind::GetPages {
            event.time_ns += 900;
            event.kind = Kind::Add;
            event.extent = 0;
            made.push(event);
        }
    }
    made
}

/// 5.55 bytes an event; the goal is 8.
#[test]
#[expect(clippy::print_stderr, reason = "the figure belongs to the verdict")]
fn an_event_takes_few_bytes() {
    let events = database_like(200_000);
    let mut writer = LogWriter::new(Vec::new()).unwrap();
    for event in &events {
        writer.push(&Entry::Event(*event)).unwrap();
    }
    let bytes = writer.finish().unwrap();
    let each = bytes.len() as f64 / events.len() as f64;
    eprintln!("{each:.2} bytes an event");
    assert!(each < 6.5, "{each:.2} bytes an event");
    assert!(each > 3.0, "{each:.2} bytes an event: the stream is too tame to show anything");
    let got: Vec<Entry> = LogReader::new(&bytes[..]).unwrap().map(Result::unwrap).collect();
    assert!(got.into_iter().eq(events.into_iter().map(Entry::Event)));
}
