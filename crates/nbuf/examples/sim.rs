//! scratch
#![allow(
    clippy::all,
    clippy::pedantic,
    clippy::print_stderr,
    clippy::print_stdout,
    clippy::allow_attributes,
    clippy::allow_attributes_without_reason
)]
use nbuf::cache::kernel::*;
use nbuf::units::*;
fn main() {
    let a: Vec<String> = std::env::args().collect();
    let t = nbuf::workload::format::native::read(std::fs::File::open(&a[1]).unwrap()).unwrap();
    let s = Stream::of(&t, &[]);
    for f in a[2..].iter() {
        let p = Pages(f.parse().unwrap());
        let l = simulate(
            &s,
            if std::env::var("L").is_ok() { Replacement::TwoLists } else { Replacement::Lru },
            p,
        );
        let w = if std::env::var("L").is_ok() {
            l.clone()
        } else {
            simulate(&s, Replacement::TwoLists, p)
        };
        println!(
            "{:>7}p {:>9}  lru {:>8}  two {:>8}",
            p.0,
            p.bytes().to_string(),
            l.fills,
            w.fills
        );
    }
}
