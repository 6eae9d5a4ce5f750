//! Whatever is in memory, in the registers and on the discs, the machine goes on or stops; and what it
//! does is always the same.

use nbuf_pdp11::device::Write;
use nbuf_pdp11::timing::Timing;
use nbuf_pdp11::{Pdp11, Stop};
use proptest::collection::vec;
use proptest::prelude::*;

/// A word that means something: registers of devices, commands, instructions that use them.
fn word() -> impl Strategy<Value = u16> {
    let devices = prop_oneof![
        0o177_300u16..0o177_320,
        0o177_400u16..0o177_420,
        0o177_460u16..0o177_500,
        0o177_546u16..0o177_572,
        Just(0o177_776),
        0o174_000u16..0o174_110,
    ];
    let commands = [0o105, 0o103, 0o107, 0o111, 0o115, 1, 2, 5, 0o113, 0o100];
    prop_oneof![
        4 => any::<u16>(),
        3 => devices,
        2 => Just(0o012_737),
        1 => prop::sample::select(commands.to_vec()),
    ]
}

fn run(
    timing: &Timing,
    seed: &[u16],
    registers: [u16; 8],
    status: u16,
    typed: &[u8],
) -> (Stop, Pdp11) {
    let mut machine = Pdp11::new(timing, 0o100_000, vec![1; 1000], vec![2; 1000]);
    for (address, &word) in (0u16..0o100_000).step_by(2).zip(seed.iter().cycle()) {
        machine.memory.set_word(address, word);
    }
    machine.cpu.registers = registers;
    machine.cpu.set_status(status);
    machine.type_in(typed);
    (machine.run(&mut (), 30_000), machine)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]
    #[test]
    fn no_memory_panics_the_machine_and_it_does_the_same_again(
        seed in vec(word(), 1..400),
        registers: [u16; 8],
        status: u16,
        typed in vec(any::<u8>(), 0..4),
    ) {
        for timing in [Timing::simh(1, 10), Timing::hardware(60)] {
            let (stop, machine) = run(&timing, &seed, registers, status, &typed);
            let (again, other) = run(&timing, &seed, registers, status, &typed);
            prop_assert_eq!(stop, again);
            prop_assert_eq!(&machine.cpu, &other.cpu);
            prop_assert_eq!(machine.now(), other.now());
            prop_assert!(machine.now() >= 30_000 || stop != Stop::Limit);
        }
    }

    #[test]
    fn no_state_of_a_device_panics(
        writes in vec((0u16..0o100, word(), 0usize..3, 0u64..200_000), 1..60),
    ) {
        for timing in [Timing::instant(), Timing::hardware(50)] {
            let mut machine = Pdp11::new(&timing, 0o20_000, Vec::new(), Vec::new());
            let Pdp11 { bus, memory, .. } = &mut machine;
            let mut now = 0;
            for &(register, value, how, later) in &writes {
                let base = [0o177_300, 0o177_400, 0o177_460, 0o177_560];
                let address = base[usize::from(register >> 4)] + (register & 0o16);
                let byte = value.to_le_bytes()[0];
                let write = [Write::Word(value), Write::Low(byte), Write::High(byte)][how];
                let _ = bus.write(now, address, write, memory);
                let _ = (bus.read(now, address), bus.interrupt(0));
                now += later;
                if bus.due() <= now {
                    bus.service(now, memory);
                }
            }
        }
    }
}
