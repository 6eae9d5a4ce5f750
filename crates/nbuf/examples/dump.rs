//! d
#![expect(clippy::print_stdout, reason = "an example prints")]
use nbuf::cache::kernel::{DEBUG, Replacement, Stream, simulate};
use nbuf::units::Pages;
fn main() {
    let a: Vec<String> = std::env::args().collect();
    let trace = nbuf::workload::format::native::read(std::fs::File::open(&a[1]).unwrap()).unwrap();
    let mut shared: Vec<(u32, u32)> = Vec::new();
    for (n, f) in trace.files.iter().enumerate() {
        let pages = [
            ("ld-linux", 48),
            ("libc.so", 432),
            ("libz.so", 18),
            ("libm.so", 82),
            ("libtinfo", 30),
        ]
        .iter()
        .find(|(k, _)| f.contains(k))
        .map_or(0, |p| p.1);
        shared.extend((0..pages).map(|p| (n as u32, p)));
    }
    let mut records = nbuf::workload::trace::Records::default();
    for r in &trace.records {
        if r.op != nbuf::workload::trace::Op::Evict {
            records.push(r.clone());
        }
    }
    let stream = Stream::of(records, &trace.files, &trace.facts, &shared);
    let kind = if a[3] == "lru" { Replacement::Lru } else { Replacement::TwoLists };
    let run = simulate(&stream, kind, Pages(a[2].parse().unwrap()));
    println!("# fills {} peak {}", run.fills, run.peak.0);
    let touches: Vec<_> = stream.touches().collect();
    let list: String =
        touches.iter().map(|t| format!("{} {} {}\n", t.file, t.first, t.count)).collect();
    std::fs::write("touches.txt", list).unwrap();
    DEBUG.with_borrow(|d| {
        for &(at, fill, base, order) in d {
            let t = &touches[at as usize];
            println!("{at} {} {} {} {fill} {base} {order}", t.file, t.first, t.count);
        }
    });
}
