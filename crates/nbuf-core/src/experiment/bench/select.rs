//! Which tests are meant by names, stars and groups.

use super::Error;
use super::spec::Group;
use super::table::{self, Test};

/// The course's selection of single bytes, in its order.
const BYTE: [&str; 10] = [
    "w01-syncbyte",
    "w03-byte",
    "w05-stdiobyte",
    "r01-byte",
    "r04-stdiobyte",
    "r11-mmapbyte",
    "r06-stridebyte",
    "r08-stridestdiobyte",
    "r10-stridestdiomulti",
    "r13-mmapstridebyte",
];

/// The course's selection of blocks of 4096, in its order.
const PAGE: [&str; 8] = [
    "w02-syncblock4096",
    "w04-block4096",
    "w06-stdioblock4096",
    "r02-block4096",
    "r05-stdioblock4096",
    "r12-mmapblock4096",
    "r07-strideblock4096",
    "r09-stridestdioblock4096",
];

/// Every test there is.
pub fn all() -> Vec<Test> {
    let mut tests = table::course();
    tests.extend(table::modern_all());
    tests
}

/// The tests of groups and names, each once, in this order.
pub(super) fn chosen(names: &[String], groups: &[Group]) -> Result<Vec<Test>, Error> {
    let all = all();
    let mut chosen: Vec<Test> = Vec::new();
    let mut add = |test: &Test| {
        if chosen.iter().all(|known| known.name != test.name) {
            chosen.push(test.clone());
        }
    };
    for group in groups {
        let listed: &[&str] = match group {
            Group::Byte => &BYTE,
            Group::Page => &PAGE,
            Group::Cs61 | Group::Modern => &[],
        };
        let is_course = |test: &&Test| test.is_course() == (*group == Group::Cs61);
        match group {
            Group::Byte | Group::Page => {
                let find = |name| all.iter().find(move |test| test.name == name);
                listed.iter().filter_map(|&name| find(name)).for_each(&mut add);
            }
            Group::Cs61 | Group::Modern => all.iter().filter(is_course).for_each(&mut add),
        }
    }
    for name in names {
        let mut found = all.iter().filter(|test| is_like(name, &test.name)).peekable();
        if found.peek().is_none() {
            return Err(Error::NoTest(name.clone()));
        }
        found.for_each(&mut add);
    }
    Ok(chosen)
}

/// Whether a name is what a pattern says, in which `*` stands for anything.
fn is_like(pattern: &str, name: &str) -> bool {
    let Some((head, rest)) = pattern.split_once('*') else { return pattern == name };
    let Some(mut left) = name.strip_prefix(head) else { return false };
    loop {
        if is_like(rest, left) {
            return true;
        }
        let mut characters = left.chars();
        if characters.next().is_none() {
            return false;
        }
        left = characters.as_str();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stars_stand_for_anything() {
        let cases = [
            ("r01-byte", "r01-byte", true),
            ("r01", "r01-byte", false),
            ("r0*", "r01-byte", true),
            ("*byte", "r01-byte", true),
            ("*byte", "r02-block", false),
            ("*-*4096", "r02-block4096", true),
            ("*", "", true),
            ("", "x", false),
        ];
        for (pattern, name, want) in cases {
            assert_eq!(is_like(pattern, name), want, "{pattern} {name}");
        }
    }

    #[test]
    fn groups_are_the_courses_selections() {
        let check = |groups: &[Group], want: usize| {
            assert_eq!(chosen(&[], groups).unwrap().len(), want, "{groups:?}");
        };
        check(&[Group::Byte], BYTE.len());
        check(&[Group::Page], PAGE.len());
        check(&[Group::Cs61], 26);
        check(&[Group::Byte, Group::Cs61, Group::Page], 26);
        assert_eq!(chosen(&["r0*".into(), "r01-byte".into()], &[]).unwrap().len(), 12);
        assert!(chosen(&["r99".into()], &[]).is_err());
    }
}
