//! The program `nbuf`.

fn main() {}
