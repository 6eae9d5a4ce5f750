//! Cgroups by a pattern of their paths, such as `/system.slice/*.service`.
//!
//! `*` stands for any part of a name, `?` for one character, and `**` for any number of groups. A path that is no
//! directory as it is given begins at the mount of the memory controller, as in `/proc/PID/cgroup`. Cost: reads the
//! directories that can match, once.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Component, Path, PathBuf};

use super::named::Error;
use crate::sys::cgroup::memory_mount;

/// Names that are offered where none matches.
const NEAR_MAX: usize = 5;

/// Whether a path stands for several groups.
pub fn is_pattern(path: &Path) -> bool {
    path.to_string_lossy().contains(['*', '?'])
}

/// The directories of the cgroups that match, in the order of their names.
///
/// # Errors
/// If none does, with the names that are near.
pub fn groups(pattern: &Path) -> Result<Vec<PathBuf>, Error> {
    find(pattern, memory_mount().as_deref())
}

/// The path of a group below the mount of its hierarchy, as people write it.
pub fn name_of(group: &Path) -> String {
    let mount = memory_mount();
    let below = mount.and_then(|mount| Some(group.strip_prefix(mount).ok()?.to_owned()));
    let below = below.filter(|below| !below.as_os_str().is_empty());
    below.map_or_else(|| group.to_string_lossy().into(), |below| format!("/{}", below.display()))
}

fn find(pattern: &Path, mount: Option<&Path>) -> Result<Vec<PathBuf>, Error> {
    let parts: Vec<Component<'_>> = pattern.components().collect();
    let is_fixed = |part: &&Component<'_>| !is_pattern(part.as_ref());
    let fixed_count = parts.iter().take_while(is_fixed).count();
    let fixed: PathBuf = parts[..fixed_count].iter().collect();
    // The root has no groups, so that `/*` is of the hierarchy.
    let is_as_given = fixed.file_name().is_some() && fixed.is_dir();
    let below_mount = || Some(mount?.join(fixed.strip_prefix("/").unwrap_or(&fixed)));
    let start = if is_as_given { Some(fixed.clone()) } else { below_mount() };
    let start = start.ok_or(Error::NoHierarchy)?;
    if fixed_count == parts.len() {
        // The error of attaching says what is wrong with it.
        return Ok(vec![if start.is_dir() { start } else { pattern.to_owned() }]);
    }
    let rest = parts[fixed_count..].iter().map(|part| part.as_os_str().to_string_lossy());
    let rest: Vec<String> = rest.map(Into::into).collect();
    let mut search = Search::default();
    search.below(&start, &rest, 0);
    if search.found.is_empty() {
        let pattern = pattern.display().to_string();
        return Err(Error::NoMatch { pattern, place: search.place(start), near: search.near() });
    }
    Ok(search.found.into_iter().collect())
}

#[derive(Default)]
struct Search {
    found: BTreeSet<PathBuf>,
    /// Where nothing matched, at the greatest depth: the part of the pattern, the directories and their names.
    stuck: Option<(usize, String, Vec<PathBuf>, BTreeSet<String>)>,
}

impl Search {
    /// Adds what matches the parts from `at` on.
    fn below(&mut self, directory: &Path, parts: &[String], at: usize) {
        let Some(part) = parts.get(at) else {
            self.found.insert(directory.to_owned());
            return;
        };
        let names = names_in(directory);
        if part == "**" {
            self.below(directory, parts, at + 1);
            for name in &names {
                self.below(&directory.join(name), parts, at);
            }
            return;
        }
        let mut is_stuck = true;
        for name in names.iter().filter(|name| matches(part, name)) {
            is_stuck = false;
            self.below(&directory.join(name), parts, at + 1);
        }
        if is_stuck {
            self.note(directory, part, at, names);
        }
    }

    fn note(&mut self, directory: &Path, part: &str, at: usize, names: Vec<String>) {
        if self.stuck.as_ref().is_none_or(|(depth, ..)| *depth < at) {
            self.stuck = Some((at, part.to_owned(), Vec::new(), BTreeSet::new()));
        }
        if let Some((depth, _, directories, all)) = &mut self.stuck
            && *depth == at
        {
            directories.push(directory.to_owned());
            all.extend(names);
        }
    }

    /// Where nothing matched.
    fn place(&self, start: PathBuf) -> PathBuf {
        let first = self.stuck.as_ref().and_then(|(_, _, directories, _)| directories.first());
        first.cloned().unwrap_or(start)
    }

    /// The names there that are most like the pattern.
    fn near(&self) -> Vec<String> {
        let Some((_, part, _, names)) = &self.stuck else { return Vec::new() };
        let wanted = part.replace(['*', '?'], "");
        let likeness = |name: &String| strsim::jaro_winkler(&wanted, name);
        let mut names: Vec<&String> = names.iter().collect();
        names.sort_by(|a, b| likeness(b).total_cmp(&likeness(a)));
        names.into_iter().take(NEAR_MAX).cloned().collect()
    }
}

/// The groups in a directory. Links are left out: they are second names of hierarchies.
fn names_in(directory: &Path) -> Vec<String> {
    let entries = fs::read_dir(directory).into_iter().flatten().flatten();
    let groups = entries.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()));
    let mut names: Vec<String> =
        groups.filter_map(|entry| entry.file_name().into_string().ok()).collect();
    names.sort();
    names
}

/// Whether a name matches a part of a pattern.
fn matches(part: &str, name: &str) -> bool {
    let (part, name): (Vec<char>, Vec<char>) = (part.chars().collect(), name.chars().collect());
    let (mut at, mut of) = (0, 0);
    // The last star, and the first character that it does not stand for.
    let mut star = None;
    while of < name.len() {
        match part.get(at) {
            Some('*') => {
                star = Some((at, of));
                at += 1;
            }
            Some(&wanted) if wanted == '?' || wanted == name[of] => {
                at += 1;
                of += 1;
            }
            _ => {
                let Some((of_star, until)) = star else { return false };
                star = Some((of_star, until + 1));
                (at, of) = (of_star + 1, until + 1);
            }
        }
    }
    part[at..].iter().all(|&rest| rest == '*')
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn tree() -> tempfile::TempDir {
        let place = tempfile::tempdir().unwrap();
        for path in ["a.slice/one.service", "a.slice/two.service/sub", "b.slice/c.slice/one.scope"]
        {
            fs::create_dir_all(place.path().join(path)).unwrap();
        }
        std::os::unix::fs::symlink("a.slice", place.path().join("link")).unwrap();
        place
    }

    #[test]
    fn groups_are_found_by_patterns() {
        let place = tree();
        let check = |pattern: &str, want: &[&str]| {
            let got = find(Path::new(pattern), Some(place.path())).unwrap();
            let want: Vec<PathBuf> = want.iter().map(|path| place.path().join(path)).collect();
            assert_eq!(got, want, "{pattern}");
        };
        check("/a.slice/*.service", &["a.slice/one.service", "a.slice/two.service"]);
        check("a.slice/o*", &["a.slice/one.service"]);
        check("/**/one.*", &["a.slice/one.service", "b.slice/c.slice/one.scope"]);
        check("/?.slice", &["a.slice", "b.slice"]);
        // A path of the hierarchy, and one as it is.
        check("/a.slice/one.service", &["a.slice/one.service"]);
        let whole = format!("{}/*/*/one.scope", place.path().display());
        check(&whole, &["b.slice/c.slice/one.scope"]);
        let whole = place.path().join("b.slice").display().to_string();
        check(&whole, &["b.slice"]);
    }

    #[test]
    fn without_a_match_the_error_names_what_is_near() {
        let place = tree();
        let check = |pattern: &str, want: &[&str]| {
            let error = find(Path::new(pattern), Some(place.path())).unwrap_err().to_string();
            for part in want {
                assert!(error.contains(part), "{pattern}: {error}");
            }
        };
        let both = ["`/a.slice/*.servise`", "a.slice there are", "one.service", "two.service"];
        check("/a.slice/*.servise", &both);
        check("/a.slise/*", &["no cgroup matches", "cannot be read"]);
        check("/*/one.service/*", &["no group below"]);
        let none = find(Path::new("/x*"), None);
        assert!(matches!(none, Err(Error::NoHierarchy)));
    }

    /// The oracle: all ways to cut the name.
    fn simple(part: &[char], name: &[char]) -> bool {
        match part.split_first() {
            None => name.is_empty(),
            Some(('*', rest)) => (0..=name.len()).any(|cut| simple(rest, &name[cut..])),
            Some((wanted, rest)) => name.split_first().is_some_and(|(first, name)| {
                (*wanted == '?' || wanted == first) && simple(rest, name)
            }),
        }
    }

    proptest! {
        #[test]
        fn stars_match_as_all_ways_to_cut_do(part in "[ab*?]{0,8}", name in "[ab]{0,10}") {
            let (parts, names): (Vec<char>, Vec<char>) = (part.chars().collect(), name.chars().collect());
            prop_assert_eq!(matches(&part, &name), simple(&parts, &names));
        }
    }
}
