//! Disassembles the last instructions before a machine stopped.

use super::decode::{Operation as O, operation};
use crate::memory::Memory;

/// The instruction at an address, and the next address.
pub fn disassemble(memory: &Memory, address: u16) -> (String, u16) {
    let Some(word) = memory.word(address) else {
        return ("no core here".to_owned(), address.wrapping_add(2));
    };
    let mut at = address.wrapping_add(2);
    let operation = operation(word);
    let name = format!("{operation:?}").to_lowercase();
    let (source, destination) = ((word >> 6) & 0o77, word & 0o77);
    let text = match operation {
        O::Halt | O::Wait | O::Rti | O::Bpt | O::Iot | O::Reset => name,
        O::Rts => format!("{name} {}", register(destination)),
        O::Codes => codes(word),
        O::Emt | O::Trap => format!("{name} {:o}", word & 0o377),
        O::Reserved => format!("{word:06o}"),
        O::Jsr => {
            let to = operand(memory, destination, &mut at);
            format!("jsr {},{to}", register(source & 7))
        }
        branch if (O::Br..=O::Bcs).contains(&branch) => {
            let words = i16::from(word.to_le_bytes()[0].cast_signed());
            format!("{name} {:06o}", at.wrapping_add_signed(words * 2))
        }
        double if (O::Mov..=O::Bisb).contains(&double) => {
            let from = operand(memory, source, &mut at);
            let to = operand(memory, destination, &mut at);
            format!("{name} {from},{to}")
        }
        _ => format!("{name} {}", operand(memory, destination, &mut at)),
    };
    (text, at)
}

fn register(specifier: u16) -> String {
    match specifier & 7 {
        6 => "sp".to_owned(),
        7 => "pc".to_owned(),
        number => format!("r{number}"),
    }
}

fn codes(word: u16) -> String {
    let letters = [(0o10, 'n'), (4, 'z'), (2, 'v'), (1, 'c')];
    let named: String =
        letters.iter().filter(|(bit, _)| word & bit != 0).map(|(_, c)| *c).collect();
    let what = if word & 0o20 == 0 { "clear" } else { "set" };
    if named.is_empty() { "nop".to_owned() } else { format!("{what} {named}") }
}

fn operand(memory: &Memory, specifier: u16, at: &mut u16) -> String {
    let mode = specifier >> 3;
    let name = register(specifier);
    let is_counter = specifier & 7 == 7;
    let mut next = || {
        let word = memory.word(*at).unwrap_or(0);
        *at = at.wrapping_add(2);
        word
    };
    match mode {
        0 => name,
        1 => format!("({name})"),
        2 if is_counter => format!("${:o}", next()),
        2 => format!("({name})+"),
        3 if is_counter => format!("*${:o}", next()),
        3 => format!("*({name})+"),
        4 => format!("-({name})"),
        5 => format!("*-({name})"),
        _ => {
            let offset = next();
            let star = if mode == 7 { "*" } else { "" };
            if is_counter {
                format!("{star}{:06o}", at.wrapping_add(offset))
            } else {
                format!("{star}{offset:o}({name})")
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn instructions_are_read_as_the_assembler_of_unix_writes_them() {
        let check = |words: &[u16], want: &str| {
            let mut memory = Memory::new(0o1000);
            for (at, &word) in (0o100u16..).step_by(2).zip(words) {
                memory.set_word(at, word);
            }
            let behind = 0o100 + 2 * u16::try_from(words.len()).unwrap();
            assert_eq!(disassemble(&memory, 0o100), (want.to_owned(), behind));
        };
        check(&[0o012_737, 0o340, 0o177_776], "mov $340,*$177776");
        check(&[0o004_067, 0o574], "jsr r0,000700");
        check(&[0o001_375], "bne 000074");
        check(&[0o105_767, 0o24], "tstb 000130");
        check(&[0o112_122], "movb (r1)+,(r2)+");
        check(&[0o016_504, 2], "mov 2(r5),r4");
        check(&[0o000_167, 0o74], "jmp 000200");
        check(&[0o000_205], "rts r5");
        check(&[0o000_261], "set c");
        check(&[0o104_403], "trap 3");
        check(&[0o070_001], "070001");
        check(&[1], "wait");
    }
}
