//! Records whose sums are known, and mappings compared with an array.

use proptest::prelude::*;

use super::*;

fn file(path: &str, inode: u64) -> Object {
    Object::File { path: path.into(), device: 8, inode }
}

fn mapped(process: u32, start: u64, bytes: u64, is_code: bool, object: Object) -> Record {
    let mapping = Mapping { start, bytes, offset: 0x100, is_code };
    Record::Mapped { process, mapping, object }
}

fn executes(process: u32, name: &str) -> Record {
    Record::Named { process, thread: process, name: name.into(), executes: true }
}

fn ran(process: u32, stack: &[u64]) -> Record {
    let stack = stack.iter().map(|&value| Address { value, in_kernel: value >> 63 == 1 }).collect();
    Record::Ran { process, thread: process, stack }
}

fn counted(records: impl IntoIterator<Item = Record>) -> Counted {
    let mut profile = Profile::default();
    records.into_iter().for_each(|record| profile.take(record));
    profile.finish()
}

#[test]
fn samples_go_to_what_was_mapped_then() {
    let out = counted([
        executes(7, "a"),
        mapped(7, 0x1000, 0x1000, false, file("/a", 1)),
        mapped(7, 0x2000, 0x1000, true, file("/a", 1)),
        mapped(7, 0x8000, 0x1000, true, file("/lib", 2)),
        ran(7, &[0x2010, 0x8021]),
        Record::Began { process: 9, parent: 7, thread: 9, parent_thread: 7 },
        ran(9, &[0x2010]),
        executes(9, "b"),
        ran(9, &[0x2010]),
        mapped(9, 0x2000, 0x1000, true, file("/b", 3)),
        ran(9, &[0x2010]),
        // The first process still has its own.
        ran(7, &[0x2010, 0x8021]),
        ran(7, &[1 << 63]),
    ]);
    let named = |frame: &Frame| match &out.objects[frame.object as usize] {
        Object::File { path, .. } => format!("{path}+{:x}", frame.offset),
        other => format!("{other:?}"),
    };
    let stacks: Vec<String> = out
        .stacks
        .iter()
        .map(|(name, frames, count)| {
            let frames: Vec<String> = frames.iter().map(named).collect();
            format!("{name} {} {count}", frames.join(";"))
        })
        .collect();
    let want = ["a /a+110;/lib+120 2", "a /a+110 1", "a Kernel 1", "b /b+110 1", "b Unknown 1"];
    let mut sorted = stacks.clone();
    sorted.sort();
    let mut want = want.map(str::to_owned);
    want.sort();
    assert_eq!(sorted, want);
    let programs: Vec<&Object> = out
        .objects
        .iter()
        .zip(&out.programs)
        .filter_map(|(object, &is_program)| is_program.then_some(object))
        .collect();
    assert_eq!(programs, [&file("/a", 1), &file("/b", 3)]);
    assert_eq!((out.samples, out.cut), (6, 0));
}

#[test]
fn faults_and_fills_have_the_code_and_the_file() {
    let at = Address { value: 0x2010, in_kernel: false };
    let fault = |touched, is_major| Record::Faulted { process: 7, at, touched, is_major };
    let fill = |inode| Record::Filled { process: 7, at: Some(at), device: 8, inode, pages: 4 };
    let out = counted([
        executes(7, "a"),
        mapped(7, 0x2000, 0x1000, true, file("/a", 1)),
        fill(5),
        mapped(7, 0x9000, 0x4000, false, file("/data", 5)),
        fault(0x9000, true),
        fault(0xa000, false),
        fault(0x9_0000, false),
        fill(5),
        fill(6),
    ]);
    let of = |tallies: &BTreeMap<u32, Tally>, object: &Object| {
        let number = out.objects.iter().position(|one| one == object).unwrap();
        tallies.get(&u32::try_from(number).unwrap()).copied().unwrap_or_default()
    };
    assert_eq!(of(&out.by_code, &file("/a", 1)), Tally { minor: 2, major: 1, fills: 12 });
    assert_eq!(of(&out.by_data, &file("/data", 5)), Tally { minor: 1, major: 1, fills: 8 });
    assert_eq!(of(&out.by_data, &Object::Unknown), Tally { minor: 1, ..Tally::default() });
    let unnamed = Object::Inode { device: 8, inode: 6 };
    assert_eq!(of(&out.by_data, &unnamed), Tally { fills: 4, ..Tally::default() });
}

proptest! {
    /// Compared with an array that has a slot for each address.
    #[test]
    fn a_space_finds_what_was_mapped_last(parts in prop::collection::vec((0_u64..60, 0_u64..20), 0..30)) {
        let mut space = Space::default();
        let mut slots = [None; 100];
        for (number, &(start, bytes)) in (0..).zip(&parts) {
            space.map(Mapping { start, bytes, offset: 1000 * u64::from(number), is_code: false }, number);
            for at in start..start + bytes {
                slots[usize::try_from(at).unwrap()] = Some((number, 1000 * u64::from(number) + at - start));
            }
        }
        for (at, slot) in (0..).zip(slots) {
            prop_assert_eq!(space.find(at), slot);
        }
    }

    #[test]
    fn any_addresses_are_counted(start: u64, bytes: u64, offset: u64, at: u64) {
        let mapping = Mapping { start, bytes, offset, is_code: true };
        let out = counted([
            Record::Mapped { process: 1, mapping, object: Object::Anonymous },
            ran(1, &[at, at]),
        ]);
        prop_assert_eq!(out.samples, 1);
    }
}
