//! DEC's own diagnostics of the processor, T1 to T15, where a developer has them: `NBUF_MAINDEC=DIR`
//! names a folder with the tapes as pcjs keeps them (`MAINDEC-11-D0AA-PB.json` and so on).
//!
//! They are not part of the repository. A pass rings the bell; what is wrong halts.

#[path = "../../nbuf-core/tests/support/mod.rs"]
mod support;

use std::path::{Path, PathBuf};

use nbuf_pdp11::cpu::{PC, SP};
use nbuf_pdp11::memory::Memory;
use nbuf_pdp11::timing::Timing;
use nbuf_pdp11::{Pdp11, Stop};
use support::skip;

/// Tape, and how often SIMH rings within 700 million instructions. T14A halts there too.
const TAPES: [(&str, usize); 16] = [
    ("D0AA", 5),
    ("D0BA", 13),
    ("D0CA", 9),
    ("D0DA", 4),
    ("D0EA", 6),
    ("D0FA", 5),
    ("D0GA", 7),
    ("D0HA", 6),
    ("D0IA", 14),
    ("D0JA", 10),
    ("D0KA", 21),
    ("D0LA", 9),
    ("D0MA", 44),
    ("D0NB", 1559),
    ("D0NC", 1559),
    ("D0OA", 106),
];
const INSTRUCTIONS: u64 = 700_000_000;
const BELL: u8 = 7;

/// The bytes of a tape: the words behind the name, low byte first.
fn tape(path: &Path) -> Vec<u8> {
    let text = std::fs::read_to_string(path).unwrap();
    let (_, words) = text.split_once("\"words\"").unwrap();
    let words = words.split(|c: char| !c.is_ascii_alphanumeric());
    let words = words.filter_map(|word| u16::from_str_radix(word.strip_prefix("0x")?, 16).ok());
    words.flat_map(u16::to_le_bytes).collect()
}

/// The absolute loader: blocks of 1, 0, a count of bytes, an address, data and a sum that is zero. One
/// without data ends the tape.
fn load(memory: &mut Memory, mut tape: &[u8]) {
    while let Some(start) = tape.iter().position(|&byte| byte == 1) {
        tape = &tape[start..];
        let word = |at: usize| u16::from_le_bytes([tape[at], tape[at + 1]]);
        let count = usize::from(word(2));
        let sum = tape[..=count].iter().fold(0u8, |sum, &byte| sum.wrapping_add(byte));
        assert_eq!(sum, 0, "the sum of a block");
        if count == 6 {
            return;
        }
        memory.load(word(4), &tape[6..count]);
        tape = &tape[count + 1..];
    }
}

fn bells(path: &Path, start: u16) -> (Stop, usize, u16) {
    let mut machine = Pdp11::new(&Timing::simh(250, 10), 0o100_000, Vec::new(), Vec::new());
    load(&mut machine.memory, &tape(path));
    machine.cpu.registers[PC] = start;
    machine.cpu.registers[SP] = 0o500;
    let stop = machine.run(&mut (), INSTRUCTIONS);
    let printed = machine.bus.console.take_printed();
    let bells = printed.iter().filter(|printed| printed.character == BELL).count();
    (stop, bells, machine.cpu.registers[PC])
}

#[test]
fn the_diagnostics_of_the_processor_pass() {
    let Some(folder) = std::env::var_os("NBUF_MAINDEC").map(PathBuf::from) else {
        return skip("DEC's diagnostics: NBUF_MAINDEC names no folder with the tapes");
    };
    for (name, in_simh) in TAPES {
        let start = if name.starts_with("D0N") { 0o206 } else { 0o200 };
        let (stop, bells, at) = bells(&folder.join(format!("MAINDEC-11-{name}-PB.json")), start);
        assert_eq!(stop, Stop::Limit, "{name} stopped at {at:06o}");
        assert_eq!(bells, in_simh, "{name} passed as often as in SIMH");
    }
}
