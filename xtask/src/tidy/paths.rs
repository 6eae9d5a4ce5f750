//! The paths that Rust code names, with nested `use` trees spread out.

use super::source::{find_words, is_word, line_of};

/// A path as it is written from its first word: `use std::{fs, io}` is `std::fs` and `std::io`.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Named {
    /// Line, from 1.
    pub(super) line: usize,
    /// Its words; `*` for a glob.
    pub(super) words: Vec<String>,
}

/// Every path in blanked code that begins with `root`.
pub(super) fn starting_with(code: &str, root: &str) -> Vec<Named> {
    let mut found = Vec::new();
    let mut read_to = 0;
    for at in find_words(code, root) {
        // In `a::super::b` and `crate::std` the word is not the beginning.
        let is_start = !code[..at].trim_end().ends_with("::");
        let after = code[at + root.len()..].trim_start();
        let is_inside = at < read_to;
        if is_start && !is_inside && after.starts_with("::") {
            let mut reader = Reader { code, rest: &code[at..], found: &mut found };
            reader.path(&mut Vec::new());
            read_to = code.len() - reader.rest.len();
        }
    }
    found
}

/// The module that a path means when it stands in `module`; `crate` and `super` are resolved.
pub(super) fn resolve(module: &[&str], words: &[String]) -> Vec<String> {
    let mut place: Vec<String> = module.iter().map(ToString::to_string).collect();
    for word in words {
        match word.as_str() {
            "crate" => place.clear(),
            "super" => {
                place.pop();
            }
            _ => place.push(word.clone()),
        }
    }
    place
}

struct Reader<'a> {
    code: &'a str,
    rest: &'a str,
    found: &'a mut Vec<Named>,
}

impl Reader<'_> {
    /// One path or group; leaves `rest` behind it.
    fn path(&mut self, before: &mut Vec<String>) {
        self.skip_space();
        if self.take("{") {
            self.group(before);
            return;
        }
        let line = line_of(self.code, self.code.len() - self.rest.len());
        let end = self.rest.find(|c| !is_word(c)).unwrap_or(self.rest.len());
        let word = if end == 0 && self.rest.starts_with('*') { "*" } else { &self.rest[..end] };
        self.rest = &self.rest[word.len()..];
        let depth = before.len();
        // `a::{self}` is `a`, and the `::<T>` behind a function is not part of its path.
        if !word.is_empty() && word != "self" {
            before.push(word.to_owned());
        }
        self.skip_space();
        let goes_on = self.rest.strip_prefix("::").map(str::trim_start);
        if !word.is_empty() && goes_on.is_some_and(|next| !next.starts_with('<')) {
            self.take("::");
            self.path(before);
        } else {
            self.found.push(Named { line, words: before.clone() });
        }
        before.truncate(depth);
    }

    fn group(&mut self, before: &mut Vec<String>) {
        loop {
            self.skip_space();
            if self.rest.is_empty() || self.take("}") {
                return;
            }
            self.path(before);
            // Skips ` as name` and the comma.
            let end = self.rest.find([',', '}']).unwrap_or(self.rest.len());
            self.rest = &self.rest[end..];
            self.take(",");
        }
    }

    fn skip_space(&mut self) {
        self.rest = self.rest.trim_start();
    }

    fn take(&mut self, token: &str) -> bool {
        match self.rest.strip_prefix(token) {
            Some(rest) => {
                self.rest = rest;
                true
            }
            None => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::*;

    fn show(code: &str, root: &str) -> String {
        let lines: Vec<String> = starting_with(code, root)
            .iter()
            .map(|named| format!("{} {}", named.line, named.words.join("::")))
            .collect();
        lines.join("\n")
    }

    #[test]
    fn use_trees_are_spread_out() {
        let code = "\
use crate::units::Bytes;
use crate::{
    cache::{self, kernel::{lru as order, model::*}},
    units::{Bytes, Pages},
    sys,
};
let x = crate::meter::distance::run::<u32>(1) + $crate::clock::now();
use not::crate::x; pub(crate) fn f() {}
";
        expect![[r"
            1 crate::units::Bytes
            3 crate::cache
            3 crate::cache::kernel::lru
            3 crate::cache::kernel::model::*
            4 crate::units::Bytes
            4 crate::units::Pages
            5 crate::sys
            7 crate::meter::distance::run
            7 crate::clock::now"]]
        .assert_eq(&show(code, "crate"));
    }

    #[test]
    fn super_climbs_from_the_module_it_stands_in() {
        let code = "use super::super::{sys, super::x};";
        let places: Vec<String> = starting_with(code, "super")
            .iter()
            .map(|named| resolve(&["cache", "kernel", "lru"], &named.words).join("::"))
            .collect();
        assert_eq!(places, ["cache::sys", "x"]);
    }

    #[test]
    fn half_a_path_is_not_the_end_of_the_world() {
        for code in ["use crate::", "use crate::{", "use crate::{a::", "crate::é;"] {
            starting_with(code, "crate");
        }
    }
}
