//! Policies by name, as people write them.

use super::{POLICIES, Row};

/// What else some policies are called, without hyphens, next to their names in the table.
pub const ALIASES: &[(&str, &str)] = &[
    ("belady", "opt"),
    ("min", "opt"),
    ("rand", "random"),
    ("secondchance", "clock"),
    ("tinylfu", "w-tinylfu"),
    ("twolists", "active-inactive"),
    ("twoqueue", "2q"),
];

/// The row of this name or alias: in any case, and with or without hyphens and underscores.
pub fn find(name: &str) -> Option<&'static Row> {
    let bare = |name: &str| name.replace(['-', '_'], "").to_ascii_lowercase();
    let wanted = bare(name);
    let alias = ALIASES.iter().find(|(alias, _)| *alias == wanted);
    let wanted = alias.map_or(wanted, |(_, name)| bare(name));
    POLICIES.iter().find(|row| bare(row.name) == wanted)
}
