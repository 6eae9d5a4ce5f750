//! Decodes each of the 65,536 words once: its operation and its cost.

/// The operation of an instruction word.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
#[expect(missing_docs, reason = "the mnemonics of the handbook")]
pub enum Operation {
    Halt,
    Wait,
    Rti,
    Bpt,
    Iot,
    Reset,
    Jmp,
    Rts,
    Codes,
    Swab,
    Br,
    Bne,
    Beq,
    Bge,
    Blt,
    Bgt,
    Ble,
    Bpl,
    Bmi,
    Bhi,
    Blos,
    Bvc,
    Bvs,
    Bcc,
    Bcs,
    Jsr,
    Emt,
    Trap,
    Clr,
    Com,
    Inc,
    Dec,
    Neg,
    Adc,
    Sbc,
    Tst,
    Ror,
    Rol,
    Asr,
    Asl,
    Clrb,
    Comb,
    Incb,
    Decb,
    Negb,
    Adcb,
    Sbcb,
    Tstb,
    Rorb,
    Rolb,
    Asrb,
    Aslb,
    Mov,
    Cmp,
    Bit,
    Bic,
    Bis,
    Add,
    Sub,
    Movb,
    Cmpb,
    Bitb,
    Bicb,
    Bisb,
    Reserved,
}

use Operation as O;

/// Decodes a word.
pub fn operation(word: u16) -> Operation {
    match word >> 12 {
        0o01 => O::Mov,
        0o02 => O::Cmp,
        0o03 => O::Bit,
        0o04 => O::Bic,
        0o05 => O::Bis,
        0o06 => O::Add,
        0o11 => O::Movb,
        0o12 => O::Cmpb,
        0o13 => O::Bitb,
        0o14 => O::Bicb,
        0o15 => O::Bisb,
        0o16 => O::Sub,
        0o00 => low(word),
        0o10 => high(word),
        _ => O::Reserved,
    }
}

const SINGLE: [Operation; 12] = [
    O::Clr,
    O::Com,
    O::Inc,
    O::Dec,
    O::Neg,
    O::Adc,
    O::Sbc,
    O::Tst,
    O::Ror,
    O::Rol,
    O::Asr,
    O::Asl,
];
const SINGLE_BYTE: [Operation; 12] = [
    O::Clrb,
    O::Comb,
    O::Incb,
    O::Decb,
    O::Negb,
    O::Adcb,
    O::Sbcb,
    O::Tstb,
    O::Rorb,
    O::Rolb,
    O::Asrb,
    O::Aslb,
];

/// Decodes words below 010000.
fn low(word: u16) -> Operation {
    match word >> 6 {
        0 => match word {
            0 => O::Halt,
            1 => O::Wait,
            2 => O::Rti,
            3 => O::Bpt,
            4 => O::Iot,
            5 => O::Reset,
            _ => O::Reserved,
        },
        1 => O::Jmp,
        2 => match word {
            0o200..=0o207 => O::Rts,
            0o240..=0o277 => O::Codes,
            _ => O::Reserved,
        },
        3 => O::Swab,
        0o04..=0o07 => O::Br,
        0o10..=0o13 => O::Bne,
        0o14..=0o17 => O::Beq,
        0o20..=0o23 => O::Bge,
        0o24..=0o27 => O::Blt,
        0o30..=0o33 => O::Bgt,
        0o34..=0o37 => O::Ble,
        0o40..=0o47 => O::Jsr,
        single @ 0o50..=0o63 => SINGLE[usize::from(single - 0o50)],
        _ => O::Reserved,
    }
}

/// Decodes words from 100000 up to 107777.
fn high(word: u16) -> Operation {
    match (word >> 6) & 0o77 {
        0o00..=0o03 => O::Bpl,
        0o04..=0o07 => O::Bmi,
        0o10..=0o13 => O::Bhi,
        0o14..=0o17 => O::Blos,
        0o20..=0o23 => O::Bvc,
        0o24..=0o27 => O::Bvs,
        0o30..=0o33 => O::Bcc,
        0o34..=0o37 => O::Bcs,
        0o40..=0o43 => O::Emt,
        0o44..=0o47 => O::Trap,
        single @ 0o50..=0o63 => SINGLE_BYTE[usize::from(single - 0o50)],
        _ => O::Reserved,
    }
}

/// A decoded instruction word.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Decoded {
    pub(crate) operation: Operation,
    pub(crate) ticks: u8,
}

/// Decodes all words, with their costs from `ticks`.
#[expect(clippy::large_stack_arrays, reason = "it goes to the heap, once a machine")]
pub(crate) fn table(ticks: impl Fn(u16) -> u8) -> Box<[Decoded; 65_536]> {
    let blank = Decoded { operation: O::Reserved, ticks: 0 };
    let mut table = Box::new([blank; 65_536]);
    for word in 0..=u16::MAX {
        let decoded = Decoded { operation: operation(word), ticks: ticks(word) };
        table[usize::from(word)] = decoded;
    }
    table
}
