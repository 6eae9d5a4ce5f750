//! Which pages of which files are in memory. The probe of the same name finds out.

/// What is left in memory after dropping.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Residency {
    /// Pages still there: number of the file in the list that was given, page in it.
    pub left: Vec<(u32, u32)>,
    /// Numbers of the files that could not be opened by their names (deleted, not ours to read, or of
    /// another mount name space).
    pub unopened: Vec<u32>,
}
