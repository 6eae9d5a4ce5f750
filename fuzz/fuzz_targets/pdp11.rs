//! Any memory, registers and keys: the machine goes on or stops, and never panics.

#![no_main]

use libfuzzer_sys::fuzz_target;
use nbuf_pdp11::Pdp11;
use nbuf_pdp11::timing::Timing;

fuzz_target!(|input: ([u16; 8], u16, Vec<u8>, Vec<u8>, bool)| {
    let (registers, status, memory, keys, is_timed) = input;
    let timing = if is_timed { Timing::hardware(60) } else { Timing::simh(1, 10) };
    let mut machine = Pdp11::new(&timing, 0o100_000, keys.clone(), memory.clone());
    machine.memory.load(0, &memory);
    machine.cpu.registers = registers;
    machine.cpu.set_status(status);
    machine.type_in(&keys);
    machine.run(&mut (), 20_000);
});
