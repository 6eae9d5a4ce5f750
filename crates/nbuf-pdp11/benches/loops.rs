//! How fast the machine goes round two loops: counting, and copying bytes; without meters and with all.
//!
//! `cargo bench -p nbuf-pdp11`; the rate is instructions. One tick is one instruction here.

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use nbuf_pdp11::cpu::PC;
use nbuf_pdp11::machine::Watcher;
use nbuf_pdp11::timing::Timing;
use nbuf_pdp11::unix::kernel::Meters;
use nbuf_pdp11::{Pdp11, Stop};

const INSTRUCTIONS: u64 = 1_000_000;

/// `1: inc r0; bne 1b; br 1b`
const COUNT: [u16; 3] = [0o005_200, 0o001_376, 0o000_775];
/// `1: mov $2000,r1; mov $4000,r2; mov $1000,r3; 2: movb (r1)+,(r2)+; dec r3; bne 2b; br 1b`
const COPY: [u16; 10] = [
    0o012_701, 0o2000, 0o012_702, 0o4000, 0o012_703, 0o1000, 0o112_122, 0o005_303, 0o001_375,
    0o000_766,
];

fn machine(program: &[u16]) -> Pdp11 {
    let mut timing = Timing::instant();
    timing.clock_ticks = 0;
    let mut machine = Pdp11::new(&timing, 0o100_000, Vec::new(), Vec::new());
    for (at, &word) in (0o1000u16..).step_by(2).zip(program) {
        machine.memory.set_word(at, word);
    }
    machine.cpu.registers[PC] = 0o1000;
    machine
}

fn go_round<W: Watcher>(machine: &mut Pdp11, watcher: &mut W) {
    let until = machine.now() + INSTRUCTIONS;
    assert_eq!(machine.run(watcher, until), Stop::Limit);
}

fn loops(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("instructions");
    group.throughput(Throughput::Elements(INSTRUCTIONS)).sample_size(10);
    for (name, program) in [("inc-bne", &COUNT[..]), ("byte-copy", &COPY[..])] {
        let mut plain = machine(program);
        group.bench_function(name, |bencher| bencher.iter(|| go_round(&mut plain, &mut ())));
        let (mut metered, mut meters) = (machine(program), Meters::new(None, None));
        let name = format!("{name}, metered");
        group.bench_function(name, |bencher| bencher.iter(|| go_round(&mut metered, &mut meters)));
    }
    group.finish();
}

criterion_group!(benches, loops);
criterion_main!(benches);
