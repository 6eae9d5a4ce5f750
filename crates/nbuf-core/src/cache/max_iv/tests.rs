//! What a user reads is what the disc holds, whatever is asked and whatever fails; and the lists are
//! those of the paper.

use std::collections::BTreeMap;

use proptest::collection::vec;
use proptest::prelude::*;

use super::*;

const SECTORS: u32 = 24;

/// What the disc gives for a sector with an EOF mark: two dollars and zeros.
const EOF_WORD: u16 = 0x2424;

/// A disc: words and marks by address.
#[derive(Clone, Default)]
struct Disc(BTreeMap<u32, (Words, Marks)>);

impl Disc {
    fn sector(&self, address: u32) -> (Words, Marks) {
        self.0.get(&address).copied().unwrap_or(([0; SECTOR_WORDS], Marks::default()))
    }

    /// Does a request. One that fails may have been done up to any sector.
    fn serve(
        &mut self,
        request: &Request,
        buffer: &mut [u16],
        fails: Option<usize>,
    ) -> Result<Marks, Failed> {
        for (at, address) in request.sectors().enumerate() {
            if fails == Some(at) {
                return Err(Failed);
            }
            let first = (at * SECTOR_WORDS).min(buffer.len());
            let part = first..(first + SECTOR_WORDS).min(buffer.len());
            match request.operation {
                Operation::Read => {
                    let words = self.sector(address).0;
                    buffer[part.clone()].copy_from_slice(&words[..part.len()]);
                }
                Operation::Write => {
                    let mut words = [0; SECTOR_WORDS];
                    words[..part.len()].copy_from_slice(&buffer[part]);
                    self.0.insert(address, (words, Marks::default()));
                }
                Operation::WriteEof => {
                    let mut words = [0; SECTOR_WORDS];
                    words[0] = EOF_WORD;
                    self.0.insert(address, (words, Marks { eof: true, ..Marks::default() }));
                }
                _ => {}
            }
        }
        Ok(self.sector(request.address).1)
    }
}

/// One request through the cache; what its user sees: the words he read, and the marks.
fn ask(
    cache: &mut MaxIv,
    disc: &mut Disc,
    request: &Request,
    fill: u16,
    fails: Option<usize>,
) -> Result<(Vec<u16>, Marks), Failed> {
    let mut buffer = vec![fill; request.words as usize];
    if let Some(marks) = cache.initiate(request, &mut buffer) {
        return Ok((buffer, marks));
    }
    let outcome = disc.serve(request, &mut buffer, fails);
    cache.terminate(request, outcome, &buffer);
    outcome.map(|marks| (buffer, marks))
}

fn request(operation: Operation, address: u32, words: u32) -> Request {
    let moves = matches!(operation, Operation::Read | Operation::Write);
    Request { operation, address, position: address, words: if moves { words } else { 0 } }
}

fn any_request() -> impl Strategy<Value = (Request, u16, Option<usize>)> {
    use Operation::{
        AdvanceFile, AdvanceRecord, BackspaceFile, BackspaceRecord, Read, Write, WriteEof,
    };
    let all = [
        Read,
        Read,
        Read,
        Write,
        Write,
        WriteEof,
        AdvanceRecord,
        AdvanceFile,
        BackspaceRecord,
        BackspaceFile,
    ];
    let words = prop_oneof![Just(128_u32), 0..128_u32, 129..600_u32];
    let fails = prop_oneof![4 => Just(None), 1 => (0..5_usize).prop_map(Some)];
    (proptest::sample::select(all.to_vec()), 0..SECTORS, words, any::<u16>(), fails).prop_map(
        |(operation, address, words, fill, fails)| {
            (request(operation, address, words), fill, fails)
        },
    )
}

proptest! {
    #[test]
    fn a_user_sees_what_the_disc_holds(
        sectors in 1..12_u32,
        positions in proptest::option::of(0..SECTORS),
        lists in 1..7_u32,
        requests in vec(any_request(), 0..200),
    ) {
        let mut cache = MaxIv::new(sectors, Rules { lists, positions, ..Rules::DEFAULT });
        let mut disc = Disc::default();
        for (asked, fill, fails) in requests {
            let mut alone = disc.clone();
            let mut buffer = vec![fill; asked.words as usize];
            let marks = alone.serve(&asked, &mut buffer, None);
            if let Ok((words, seen)) = ask(&mut cache, &mut disc, &asked, fill, fails) {
                prop_assert_eq!((words, Ok(seen)), (buffer, marks), "{:?}", asked);
            }
            prop_assert_eq!(cache.check(), Ok(()));
            for address in cache.addresses().collect::<Vec<_>>() {
                let mut kept = [0; SECTOR_WORDS];
                let whole = request(Operation::Read, address, 128);
                let marks = cache.clone().initiate(&whole, &mut kept);
                prop_assert_eq!((kept, marks), (disc.sector(address).0, Some(disc.sector(address).1)));
            }
        }
    }
}

#[test]
fn each_request_does_what_the_table_says() {
    use Operation::{
        AdvanceFile, AdvanceRecord, BackspaceFile, BackspaceRecord, Read, Write, WriteEof,
    };
    // The request; whether it is served from a cache that has the sector; whether the sector is there
    // afterwards if it was before, if it was not, and after a failure if it was.
    let check = |operation, words, want: [bool; 4]| {
        let asked = request(operation, 7, words);
        let with = |held: bool, fails| {
            let (mut cache, mut disc) = (MaxIv::new(4, Rules::DEFAULT), Disc::default());
            if held {
                let _ = ask(&mut cache, &mut disc, &request(Read, 7, 128), 1, None);
            }
            let mut buffer = vec![9; asked.words as usize];
            let served = cache.initiate(&asked, &mut buffer).is_some();
            if !served {
                let outcome = disc.serve(&asked, &mut buffer, fails);
                cache.terminate(&asked, outcome, &buffer);
            }
            (served, cache.contains(7))
        };
        let got =
            [with(true, None).0, with(true, None).1, with(false, None).1, with(true, Some(0)).1];
        assert_eq!(got, want, "{operation:?} of {words} words");
    };
    check(Read, 1, [true, true, false, true]);
    check(Read, 127, [true, true, false, true]);
    check(Read, 128, [true, true, true, true]);
    check(Read, 129, [false, true, false, true]);
    check(Write, 1, [false, true, true, false]);
    check(Write, 128, [false, true, true, false]);
    check(Write, 129, [false, false, false, false]);
    check(AdvanceRecord, 0, [true, true, false, true]);
    check(BackspaceRecord, 0, [true, true, false, true]);
    check(AdvanceFile, 0, [false, true, false, true]);
    check(BackspaceFile, 0, [false, true, false, true]);
    check(WriteEof, 0, [false, false, false, false]);
}

#[test]
fn the_listing_hides_an_end_of_file() {
    let seen = |rules| {
        let (mut cache, mut disc) = (MaxIv::new(4, rules), Disc::default());
        let mut ask = |operation| ask(&mut cache, &mut disc, &request(operation, 3, 128), 5, None);
        ask(Operation::Write).expect("no failure is asked for");
        ask(Operation::WriteEof).expect("no failure is asked for");
        let (words, marks) = ask(Operation::Read).expect("no failure is asked for");
        (words[0], marks.eof)
    };
    assert_eq!(seen(Rules::DEFAULT), (EOF_WORD, true));
    assert_eq!(seen(Rules::LISTING), (5, false), "the mark is on the disc, and no user sees it");
}

#[test]
fn all_begins_on_list_0() {
    let mut cache = MaxIv::new(512, Rules::DEFAULT);
    assert_eq!((cache.list_lengths().len(), cache.list_lengths()[0]), (251, 512));
    // A search for an address that hashes to 0 walks past all of them.
    cache.initiate(&request(Operation::Read, 251, 128), &mut [0; 128]);
    assert_eq!(cache.work(), Work { comparisons: 512, copies: 0 });
    cache.initiate(&request(Operation::Read, 252, 128), &mut [0; 128]);
    assert_eq!(cache.work().comparisons, 512, "the list is empty");
}

#[test]
fn far_positions_stay_out_when_they_are_to() {
    let rules = Rules { positions: Some(10), ..Rules::DEFAULT };
    let (mut cache, mut disc) = (MaxIv::new(4, rules), Disc::default());
    for address in [9, 10] {
        let _ = ask(&mut cache, &mut disc, &request(Operation::Read, address, 128), 0, None);
    }
    assert!(cache.contains(9) && !cache.contains(10));
}

#[test]
fn the_least_recently_used_goes() {
    let (mut cache, mut disc) = (MaxIv::new(3, Rules::DEFAULT), Disc::default());
    for address in [1, 2, 3, 1, 4, 2] {
        let _ = ask(&mut cache, &mut disc, &request(Operation::Read, address, 128), 0, None);
    }
    let mut held: Vec<u32> = cache.addresses().collect();
    held.sort_unstable();
    assert_eq!(held, [1, 2, 4]);
}
