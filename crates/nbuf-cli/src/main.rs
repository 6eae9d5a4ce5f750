//! The program `nbuf`.

#[cfg_attr(not(test), expect(dead_code, reason = "the verbs that draw are to come"))]
mod show;

fn main() {}
