//! Chores of the repository that are more than one line of shell.

fn main() {}
