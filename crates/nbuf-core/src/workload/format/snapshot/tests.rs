//! Snapshots of real stores, files that a second program of the format writes, and any bytes.

use std::io::BufReader;

use proptest::prelude::*;

use super::*;
use crate::trace::request::{Op, Request};
use crate::workload::format::hash::{key, key_in};

/// What Redis 7.0.15 saved: values of all types, keys that are numbers, packed and in two databases, and a function.
const RDB: &str = "\
    524544495330303130fa0972656469732d76657206372e302e3135fa0a72656469732d62697473c040fa05637469\
    6d65c26d1e0c6bfa08757365642d6d656dc200d81100fa08616f662d62617365c000f5405023216c7561206e616d\
    653d6d796c69620a72656469732e72656769737465725f66756e6374696f6e282766272c2066756e6374696f6e28\
    6b6579732c2061726773292072657475726e203120656e6429fe00fb0e020505627a73657401c3094046017979e0\
    3900017979000000000000f03f11047a7365741515000000040081610201018262620383322e3504ff00c007c139\
    30fc291a6627a20100000006757365723a32c30a40c802616261e0ba0101616200c12c01c290eefeff1306737472\
    65616d0110000000000000000100000000000000011d1d0000000a00010100010101816602000102010001000181\
    76020401ff01010101010000010101670101010100000000000000010000000000000001a0da5627a20100000101\
    0163a0da5627a2010000010000000000000001000000000000000110046861736812120000000400816602817602\
    8167021601ff0006757365723a310568656c6c6f12046c6973740102131300000003008161028262620383636363\
    04ff00076b313030303030c2ffe0f505fce823a327a201000000c30c4050046b65793a6be0400301793a01780203\
    73657402026262016104086269673a68617368010166c3094046017a7ae03900017a7a0b04697365740e02000000\
    03000000010002002c01fe03fb01000006757365723a31056f74686572ff92e70c1bdfcd40c7\
";

/// What memcached 1.6.18 printed; the second item has client flags, and the last one is younger than `flags=`.
const METADUMP: &str = "key=user%3A1 exp=-1 la=1795956359 cas=1 fetch=yes cls=1 size=70
key=user%252 exp=1795957359 la=1795956359 cas=2 fetch=no cls=1 size=79
key=42 exp=-1 la=1795956359 cas=3 fetch=no cls=1 size=61
key=n exp=5 la=9 cas=0 fetch=no cls=1 size=60 flags=7\r
END\r
";

fn read(bytes: &[u8]) -> Snapshot {
    let snapshot = Snapshot::read(bytes, &mut |_| true).unwrap();
    // How the bytes come changes nothing.
    let again = Snapshot::read(BufReader::with_capacity(1, bytes), &mut |_| true).unwrap();
    assert_eq!((&again.items, again.broken), (&snapshot.items, snapshot.broken));
    snapshot
}

/// Bytes of key and value, and milliseconds to live.
fn held(snapshot: &Snapshot, key: u64) -> (u32, u64, Option<u64>) {
    let item = snapshot.items[&key];
    (item.key_bytes, item.value_bytes, item.lifetime.ns().map(|ns| ns / 1_000_000))
}

fn rdb() -> Vec<u8> {
    let digit = |byte: u8| u8::try_from(char::from(byte).to_digit(16).unwrap()).unwrap();
    let (pairs, _) = RDB.as_bytes().as_chunks::<2>();
    pairs.iter().map(|pair| digit(pair[0]) << 4 | digit(pair[1])).collect()
}

#[test]
fn a_file_of_redis_has_its_keys() {
    let snapshot = read(&rdb());
    assert_eq!((snapshot.broken(), snapshot.keys()), (None, 15));
    let packed = "key:".repeat(20);
    let want = [
        ("user:1", 5, None),
        ("7", 5, None),
        ("300", 6, None),
        ("k100000", 8, None),
        ("user:2", 200, Some(999_521)),
        (packed.as_str(), 1, Some(4_999_712)),
        ("list", 19, None),
        ("set", 3, None),
        ("iset", 14, None),
        ("hash", 18, None),
        ("big:hash", 71, None),
        ("zset", 21, None),
        ("bzset", 78, None),
        ("stream", 95, None),
    ];
    for (name, bytes, left) in want {
        let name_bytes = u32::try_from(name.len()).unwrap();
        assert_eq!(held(&snapshot, key(name.as_bytes())), (name_bytes, bytes, left), "{name}");
    }
    assert_eq!(held(&snapshot, key_in(3, b"user:1")), (6, 5, None));
    // Every part of it is a part of the keys, and says that it is no more.
    let whole = rdb();
    for end in 9..whole.len() - 9 {
        let part = read(&whole[..end]);
        let place = part.broken().unwrap();
        assert!(place.wanted.contains("cut off") && place.at_bytes <= end as u64, "{end}");
        assert!(part.items.iter().all(|(key, item)| snapshot.items[key] == *item), "{end}");
    }
}

#[test]
fn a_dump_of_memcached_has_its_items() {
    let snapshot = read(METADUMP.as_bytes());
    assert_eq!((snapshot.broken(), snapshot.keys()), (None, 4));
    assert_eq!(held(&snapshot, key(b"user:1")), (6, 5, None));
    // Flags that are not printed count as a part of the value.
    assert_eq!(held(&snapshot, key(b"user%2")), (6, 10 + 4, Some(1_000_000)));
    assert_eq!(held(&snapshot, 42), (2, 0, None));
    assert_eq!(held(&snapshot, key(b"n")), (1, 60 - 48 - 4 - 4, Some(1000)), "at least a second");
    let cut = read(&METADUMP.as_bytes()[..150]);
    assert_eq!((cut.keys(), cut.broken().unwrap().wanted), (2, "a whole line"));
    let wrong = read(b"key=a exp=-1 la=1 cas=1 size=70\nkey=b exp=soon la=1 cas=1 size=70\n");
    assert_eq!(wrong.broken().unwrap().at_bytes, 66);
    let busy = "BUSY currently processing crawler request\r\n";
    for text in ["", busy, "ERROR\r\n", "ENDS\n", "keys\n", "REDIS00x0", "{}"] {
        let refused = Snapshot::read(text.as_bytes(), &mut |_| true);
        assert!(matches!(refused, Err(SnapshotError::Unknown)), "{text}");
    }
}

#[test]
fn a_packed_string_is_no_longer_than_its_bytes_can_give() {
    let file = |length: u64| {
        let mut out = b"REDIS0011\x00\x01a\xc3\x03\x81".to_vec();
        out.extend(length.to_be_bytes());
        out.extend([0xe0, 0xff, 0x00, 0xff]);
        read(&out)
    };
    let largest = file(3 * 88);
    assert_eq!((largest.broken(), held(&largest, key(b"a"))), (None, (1, 264, None)));
    for length in [3 * 88 + 1, 1 << 63, u64::MAX] {
        let refused = file(length);
        let wanted = refused.broken().map(|broken| broken.wanted);
        assert_eq!((wanted, refused.keys()), (Some("a string packed by LZF"), 0), "{length}");
    }
}

#[test]
fn memory_ends_the_reading() {
    let line = |n: u32| format!("key=k{n} exp=-1 la=1 cas=1 size=99\n");
    let dump: String = (0..20_000).map(line).collect();
    let mut most = 0;
    let snapshot = Snapshot::read(dump.as_bytes(), &mut |bytes| {
        most = bytes;
        bytes < 1 << 19
    });
    let keys = snapshot.unwrap().keys();
    assert!(keys < 20_000 && keys.is_multiple_of(4096), "{keys}");
    assert!((1 << 19..1 << 22).contains(&most), "{most}");
}

/// A length in as many bytes as the last argument wants, or as it needs.
fn length(length: usize, width: u8, out: &mut Vec<u8>) {
    let short = u8::try_from(length).ok().filter(|&length| length < 64);
    match (width, short, u16::try_from(length)) {
        (0, Some(short), _) => out.push(short),
        (0 | 1, _, Ok(two)) if two < 1 << 14 => out.extend((two | 1 << 14).to_be_bytes()),
        (0..=2, _, _) => {
            out.push(0x80);
            out.extend(u32::try_from(length).unwrap().to_be_bytes());
        }
        _ => {
            out.push(0x81);
            out.extend((length as u64).to_be_bytes());
        }
    }
}

fn string(text: &[u8], width: u8, out: &mut Vec<u8>) {
    length(text.len(), width, out);
    out.extend(text);
}

/// A key as the oracle writes it.
#[derive(Clone, Debug)]
struct Written {
    database: u8,
    name: Vec<u8>,
    kind: u8,
    parts: Vec<Vec<u8>>,
    left_ms: Option<i64>,
    width: u8,
}

impl Written {
    /// Writes it, and returns the size of its value.
    fn write(&self, now_seconds: i64, out: &mut Vec<u8>) -> u64 {
        let &Self { database, kind, width, .. } = self;
        out.extend([0xfe, database]);
        if let Some(left_ms) = self.left_ms {
            out.push(0xfc);
            out.extend((now_seconds * 1000 + left_ms).to_le_bytes());
        }
        // How lately, and how often it was used.
        out.extend([0xf8, 7, 0xf9, 255]);
        let kind = [0, 1, 2, 4, 5, 11, 18, 20, 24][usize::from(kind)];
        out.push(kind);
        string(&self.name, width, out);
        let bytes = |parts: &[Vec<u8>]| parts.iter().map(|part| part.len() as u64).sum::<u64>();
        let (pairs, _) = self.parts.as_chunks::<2>();
        let of_pairs = bytes(pairs.as_flattened());
        match kind {
            1 | 2 | 18 => {
                length(self.parts.len(), width, out);
                for part in &self.parts {
                    if kind == 18 {
                        out.push(2);
                    }
                    string(part, width, out);
                }
                bytes(&self.parts)
            }
            4 | 24 => {
                if kind == 24 {
                    out.extend(77_u64.to_le_bytes());
                }
                length(pairs.len(), width, out);
                for [field, value] in pairs {
                    if kind == 24 {
                        length(5, width, out);
                    }
                    string(field, width, out);
                    string(value, width, out);
                }
                of_pairs + if kind == 24 { 8 * pairs.len() as u64 } else { 0 }
            }
            5 => {
                length(self.parts.len(), width, out);
                for part in &self.parts {
                    string(part, width, out);
                    out.extend(1.5_f64.to_le_bytes());
                }
                bytes(&self.parts) + 8 * self.parts.len() as u64
            }
            _ => {
                let text = self.parts.concat();
                string(&text, width, out);
                text.len() as u64
            }
        }
    }
}

fn written() -> impl Strategy<Value = Written> {
    let bytes = |most| prop::collection::vec(any::<u8>(), 0..most);
    let parts = prop::collection::vec(bytes(90), 0..5);
    let left = prop::option::of(-9_000_000_i64..9_000_000);
    (0..4_u8, bytes(80), 0..9_u8, parts, left, 0..4_u8).prop_map(
        |(database, name, kind, parts, left_ms, width)| Written {
            database,
            name,
            kind,
            parts,
            left_ms,
            width,
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]

    #[test]
    fn what_is_written_is_read(
        all in prop::collection::vec(written(), 0..12),
        now_seconds in 0..2_000_000_000_i64,
    ) {
        let mut out = b"REDIS0012\xfa\x05ctime".to_vec();
        string(now_seconds.to_string().as_bytes(), 0, &mut out);
        let mut want = HashMap::new();
        for one in &all {
            let bytes = one.write(now_seconds, &mut out);
            // What expired before the snapshot lives for a moment.
            let left = one.left_ms.map(|left_ms| u64::try_from(left_ms).unwrap_or(0).max(1));
            let name_bytes = u32::try_from(one.name.len()).unwrap();
            want.insert(key_in(one.database.into(), &one.name), (name_bytes, bytes, left));
        }
        out.push(0xff);
        let snapshot = read(&out);
        prop_assert_eq!(snapshot.broken(), None);
        prop_assert_eq!(snapshot.keys(), want.len() as u64);
        for (&key, &held_then) in &want {
            prop_assert_eq!(held(&snapshot, key), held_then);
        }
    }

    #[test]
    fn any_bytes_end(
        begin in 0..4_usize,
        bytes in prop::collection::vec(any::<u8>(), 0..300),
        at in any::<prop::sample::Index>(),
        changed in any::<u8>(),
    ) {
        let head = [&b"REDIS0011"[..], b"VALKEY080", b"key=", b""][begin];
        drop(Snapshot::read(&[head, &bytes[..]].concat()[..], &mut |_| true));
        let mut file = rdb();
        let at = at.index(file.len());
        file[at] = changed;
        drop(Snapshot::read(&file[..], &mut |_| true));
    }

    /// The oracle: a list of what is known so far, looked through from its end.
    #[test]
    fn what_the_trace_states_stays(
        all in prop::collection::vec((0..6_u64, 0..3_u8, any::<bool>(), 0..3_u64), 0..60),
        has_sizes in any::<bool>(),
        counts_keys in any::<bool>(),
    ) {
        let lengths = if counts_keys { Lengths::KeysAndValues } else { Lengths::Values };
        let lines: Vec<String> = (0..4)
            .map(|n| format!("key={n} exp={} la=10 cas=0 size={}\n", 10 + n, 52 + 10 * n))
            .collect();
        let dump = lines.concat();
        let mut join = Join::new(read(format!("{dump}END\n").as_bytes()), lengths);
        let requests: Vec<Request> = all
            .iter()
            .map(|&(key, op, is_unsized, seconds)| Request {
                is_unsized,
                lifetime: Lifetime::from_seconds(seconds),
                ..Request::new([Op::Read, Op::Write, Op::Discard][usize::from(op)], key, 3)
            })
            .collect();
        let asks = |request: &Request| request.op != Op::Discard;
        for reading in 0..2 {
            let mut found = requests.clone();
            found.chunks_mut(7).for_each(|some| join.join(some, has_sizes));
            for (at, (found, given)) in found.iter().zip(&requests).enumerate() {
                let mut want = *given;
                let is_known = asks(given) && given.offset < 4;
                if is_known && (!has_sizes || given.is_unsized) {
                    let key_bytes = u64::from(!has_sizes && counts_keys);
                    want.length_bytes += 10 * given.offset + key_bytes;
                    want.is_unsized = false;
                }
                let is_stated = |one: &Request| {
                    one.offset == given.offset && asks(one) && one.lifetime != Lifetime::NONE
                };
                if is_known && !requests[..=at].iter().any(is_stated) {
                    want.lifetime = Lifetime::from_seconds(given.offset.max(1));
                }
                prop_assert_eq!(*found, want, "request {} of reading {}", at, reading);
            }
            join.begin_again();
        }
        let distinct = |is_held: bool| {
            let keys = requests.iter().filter(|one| asks(one) && (one.offset < 4) == is_held);
            keys.map(|one| one.offset).collect::<std::collections::HashSet<_>>().len() as u64
        };
        let lacking = requests.iter().filter(|one| {
            asks(one) && one.offset >= 4 && (!has_sizes || one.is_unsized)
        });
        let joined = join.joined();
        prop_assert_eq!((joined.keys, joined.missing_keys), (distinct(true), distinct(false)));
        prop_assert_eq!(joined.unsized_requests, lacking.count() as u64);
    }
}
