//! Where members are in the kernel's structures: its own [`Description`](crate::sys::bpf::description::Description)
//! (`Documentation/bpf/btf.rst`).
//!
//! Pure, and no panic on whatever is read. Cost: a pass over all types, some milliseconds for the 160,000
//! of a kernel.

use std::collections::HashMap;

/// Structures inside one that are looked into. A kernel has a few dozen without a name. Without a limit, one that
/// refers to itself would never end.
const VISITS_MAX: u32 = 500;
const MAGIC: u16 = 0xeb9f;
const STRUCT: u32 = 4;
const UNION: u32 = 5;
const ENUMERATION: u32 = 6;
const TYPE_NAME: u32 = 8;

/// Types by name, with what leads to their members.
#[derive(Debug)]
pub(crate) struct Btf<'a> {
    strings: &'a [u8],
    /// The bytes from the beginning of each type on; the first has number 1.
    types: Vec<&'a [u8]>,
    /// By kind and name.
    named: HashMap<(u32, &'a [u8]), u32>,
}

impl<'a> Btf<'a> {
    /// Takes the description apart, and finds these structures, enumerations and names of types. `None` if it is none.
    pub(crate) fn parse(bytes: &'a [u8], wanted: &[&str]) -> Option<Self> {
        Self::read(bytes, wanted, false)
    }

    /// The same, up to the last name that is wanted: members behind it, in structures without a name, are not found.
    pub(crate) fn parse_until_found(bytes: &'a [u8], wanted: &[&str]) -> Option<Self> {
        Self::read(bytes, wanted, true)
    }

    fn read(bytes: &'a [u8], wanted: &[&str], ends_early: bool) -> Option<Self> {
        if bytes.get(..2)? != MAGIC.to_ne_bytes() {
            return None;
        }
        let word = |at: usize| usize::try_from(u32_at(bytes, at)?).ok();
        let behind = bytes.get(word(4)?..)?;
        let part = |offset: usize, length: usize| behind.get(offset..offset.checked_add(length)?);
        let mut rest = part(word(8)?, word(12)?)?;
        let strings = part(word(16)?, word(20)?)?;
        let mut this = Self { strings, types: Vec::new(), named: HashMap::new() };
        while let Some(info) = u32_at(rest, 4) {
            let number = u32::try_from(this.types.len() + 1).ok()?;
            this.types.push(rest);
            let kind = info >> 24 & 0x1f;
            if [STRUCT, ENUMERATION, TYPE_NAME].contains(&kind) {
                let at = strings.get(usize::try_from(u32_at(rest, 0)?).ok()?..)?;
                // To look for the end of each name would take longer than all the rest.
                let is_name =
                    |name: &&str| at.starts_with(name.as_bytes()) && at.get(name.len()) == Some(&0);
                if let Some(name) = wanted.iter().copied().find(|name| is_name(name)) {
                    this.named.entry((kind, at.get(..name.len())?)).or_insert(number);
                    if ends_early && this.named.len() == wanted.len() {
                        break;
                    }
                }
            }
            rest = rest.get(length(info)?..)?;
        }
        Some(this)
    }

    /// The name that stands at the beginning of a type or a member.
    fn name(&self, described: &[u8]) -> Option<&'a [u8]> {
        let offset = usize::try_from(u32_at(described, 0)?).ok()?;
        self.strings.get(offset..)?.split(|&byte| byte == 0).next()
    }

    /// Bytes from the beginning of a structure to a member, which may be in structures without a name.
    pub(crate) fn offset(&self, structure: &str, member: &str) -> Option<u64> {
        let number = *self.named.get(&(STRUCT, structure.as_bytes()))?;
        let mut visits = VISITS_MAX;
        Some(self.bits(number, member.as_bytes(), &mut visits)? / 8)
    }

    /// The number of the type that goes by this name.
    pub(crate) fn type_named(&self, name: &str) -> Option<u32> {
        self.named.get(&(TYPE_NAME, name.as_bytes())).copied()
    }

    /// The value that an enumeration has for a name.
    pub(crate) fn value(&self, enumeration: &str, name: &str) -> Option<u32> {
        let number = *self.named.get(&(ENUMERATION, enumeration.as_bytes()))?;
        let described = self.types.get(usize::try_from(number).ok()?.checked_sub(1)?)?;
        let count = u32_at(described, 4)? & 0xffff;
        let mut values = (0..count).map_while(|at| described.get(12 + 8 * at as usize..));
        let found = values.find(|of| self.name(of) == Some(name.as_bytes()))?;
        u32_at(found, 4)
    }

    fn bits(&self, number: u32, member: &[u8], visits: &mut u32) -> Option<u64> {
        let described = self.types.get(usize::try_from(number).ok()?.checked_sub(1)?)?;
        let info = u32_at(described, 4)?;
        if ![STRUCT, UNION].contains(&(info >> 24 & 0x1f)) {
            return None;
        }
        *visits = visits.checked_sub(1)?;
        let has_bitfields = info >> 31 == 1;
        let members = (0..info & 0xffff).map_while(|at| described.get(12 + 12 * at as usize..));
        for of in members {
            let raw = u32_at(of, 8)?;
            let offset = u64::from(if has_bitfields { raw & 0xff_ffff } else { raw });
            let name = self.name(of)?;
            if name == member {
                return Some(offset);
            }
            if name.is_empty()
                && let Some(inner) = self.bits(u32_at(of, 4)?, member, visits)
            {
                return Some(offset + inner);
            }
        }
        None
    }
}

/// How long a type is, by what stands in front of it.
fn length(info: u32) -> Option<usize> {
    let count = (info & 0xffff) as usize;
    let behind = match info >> 24 & 0x1f {
        // Integers, variables and tags have a word; arrays three; members three each, or two.
        1 | 14 | 17 => 4,
        3 => 12,
        4 | 5 | 15 | 19 => 12 * count,
        6 | 13 => 8 * count,
        2 | 7..=12 | 16 | 18 => 0,
        _ => return None,
    };
    Some(12 + behind)
}

fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_ne_bytes(bytes.get(at..at.checked_add(4)?)?.try_into().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sys::bpf::description::Description;
    use proptest::prelude::*;

    /// A description of `outer { first; { second } }`, where the inner one has no name.
    fn described() -> Vec<u8> {
        let strings = b"\0outer\0first\0second\0int\0";
        let mut types: Vec<u32> = Vec::new();
        // An int; the structure without a name; the one around it.
        types.extend([20, 1 << 24, 4, 32]);
        types.extend([0, STRUCT << 24 | 1, 8, 13, 1, 32]);
        types.extend([1, STRUCT << 24 | 2, 16, 7, 1, 0, 0, 2, 64]);
        let bytes_of = |length: usize| u32::try_from(length).unwrap();
        let types_bytes = bytes_of(types.len() * 4);
        let mut bytes = MAGIC.to_ne_bytes().to_vec();
        bytes.extend([1, 0]);
        for word in [24, 0, types_bytes, types_bytes, bytes_of(strings.len())] {
            bytes.extend(word.to_ne_bytes());
        }
        bytes.extend(types.iter().flat_map(|word| word.to_ne_bytes()));
        bytes.extend(strings);
        bytes
    }

    #[test]
    fn members_are_found_through_structures_without_a_name() {
        let bytes = described();
        let btf = Btf::parse(&bytes, &["outer"]).unwrap();
        assert_eq!(btf.offset("outer", "first"), Some(0));
        assert_eq!(btf.offset("outer", "second"), Some(12));
        assert_eq!(btf.offset("outer", "third"), None);
        assert_eq!(btf.offset("inner", "second"), None);
    }

    #[test]
    fn this_kernel_says_what_its_names_stand_for() {
        let Ok(description) = Description::open() else { return };
        let bytes = description.bytes();
        let wanted = ["pageflags", "cgroup_subsys_id", "btf_trace_mm_filemap_fault"];
        let btf = Btf::parse(bytes, &wanted).unwrap();
        assert_eq!(btf.value("pageflags", "PG_locked"), Some(0));
        assert!(btf.value("cgroup_subsys_id", "CGROUP_SUBSYS_COUNT") > Some(0));
        assert_eq!(btf.value("pageflags", "PG_nothing"), None);
        assert!(btf.type_named("btf_trace_mm_filemap_fault").is_some());
    }

    #[test]
    fn this_kernel_says_where_members_are() {
        let Ok(description) = Description::open() else { return };
        let bytes = description.bytes();
        let btf = Btf::parse(bytes, &["task_struct", "mm_struct"]).unwrap();
        let offset = |structure, member| btf.offset(structure, member).unwrap();
        assert_ne!(offset("task_struct", "mm"), offset("task_struct", "tgid"));
        assert!(offset("mm_struct", "pgd") < 4096);
    }

    #[test]
    fn the_beginning_up_to_the_names_says_what_the_whole_says() {
        let Ok(description) = Description::open() else { return };
        let bytes = description.bytes();
        let wanted = ["task_struct", "btf_trace_sched_switch"];
        let [some, all] =
            [Btf::parse_until_found, Btf::parse].map(|it| it(bytes, &wanted).unwrap());
        assert!(some.types.len() < all.types.len());
        assert_eq!(some.offset("task_struct", "pid"), all.offset("task_struct", "pid"));
        assert_eq!(some.type_named(wanted[1]), all.type_named(wanted[1]));
    }

    proptest! {
        #[test]
        fn rubbish_is_no_description_and_no_panic(
            rubbish: Vec<u8>, at in 0..100_usize, byte: u8, cut in 0..120_usize,
        ) {
            let mut bytes = described();
            if let Some(place) = bytes.get_mut(at) {
                *place = byte;
            }
            bytes.truncate(cut);
            for bytes in [rubbish, bytes] {
                if let Some(btf) = Btf::parse(&bytes, &["outer"]) {
                    btf.offset("outer", "second");
                }
            }
        }
    }
}
