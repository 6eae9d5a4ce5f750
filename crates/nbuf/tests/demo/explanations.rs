//! What every demonstration says, and the files that none leaves.

use std::fs;
use std::path::Path;

/// The files of demonstrations in a directory.
pub(crate) fn left(place: &Path) -> Vec<String> {
    let names = fs::read_dir(place).unwrap().map(|entry| entry.unwrap().file_name());
    let names = names.map(|name| name.to_string_lossy().into_owned());
    names.filter(|name| name.starts_with("nbuf-demo-")).collect()
}

/// Fails unless each line that stands for itself is explained by one of the lines behind it.
#[track_caller]
pub(crate) fn explained(said: &str) {
    for heading in ["Workload", "page fills by cache size", " MiB. ", "To paste"] {
        let section = said.split("\n\n").find(|part| part.contains(heading));
        let section = section.unwrap_or_else(|| panic!("no {heading}: {said}"));
        assert!(!section.is_empty());
    }
    for word in ["events", "page accesses", "mapped", "knee", "To paste", "below", "above"] {
        assert!(said.contains(&format!("> {word}: ")), "{word} is not explained: {said}");
    }
    assert!(said.lines().all(|line| line.chars().count() <= 80), "{said}");
}
