//! The processor and the arithmetic element against SIMH, in batch: random instructions, one case a
//! line, and what both made of them.
//!
//! SIMH 3.8 is Debian's package `simh`; the test says aloud when it is absent. Cases that touch a
//! register of a device other than the status word are left out: the machines have others.

#[path = "../../nbuf-core/tests/support/mod.rs"]
mod support;

use std::fmt::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;

use nbuf::internal::clock::Random;
use nbuf_pdp11::cpu::decode::{Operation, operation};
use nbuf_pdp11::cpu::{Cpu, PC, SP};
use nbuf_pdp11::device::Write;
use nbuf_pdp11::device::ke11::Ke11;
use nbuf_pdp11::memory::Memory;
use nbuf_pdp11::timing::Timing;
use nbuf_pdp11::{Pdp11, Stop};
use support::skip;

const SIMH: &str = "/usr/bin/pdp11";
const CASES: u64 = 100_000;
/// The number of cases that SIMH reads from one file.
const BATCH: u64 = 10_000;
/// The number of SIMHs that run at once.
const AT_ONCE: usize = 2;
/// Where the instruction is, and the words that addresses may hit.
const CODE: u16 = 0o2000;

fn is_there() -> bool {
    Path::new(SIMH).exists()
}

/// Returns the output of SIMH for a file of commands. The last command must end it: at the end of
/// its input it asks forever.
fn simh(folder: &Path, commands: &str) -> String {
    let file = folder.join("cases");
    std::fs::write(&file, format!("{commands}exit\n")).unwrap();
    let output = Command::new(SIMH).arg(&file).stdin(Stdio::null()).output().unwrap();
    String::from_utf8_lossy(&output.stdout).into_owned()
}

const MACHINE: &str = "set cpu 11/20\nset cpu 32K\nset ke enabled\nset hk disabled\nset rha disabled\n\
    set tm disabled\nset rx disabled\nset rl disabled\nset tq disabled\n";

/// One random case: registers, status, the instruction with two words behind it, core around.
struct Case {
    registers: [u16; 8],
    status: u16,
    code: [u16; 3],
    core: Vec<(u16, u16)>,
}

fn sixteen(random: &mut Random) -> u16 {
    u16::try_from(random.below(0x1_0000)).unwrap()
}

impl Case {
    fn new(random: &mut Random) -> Self {
        let instruction = loop {
            let word = sixteen(random);
            // HALT, WAIT and RESET do not end as others do.
            let op = operation(word);
            if ![Operation::Halt, Operation::Wait, Operation::Reset].contains(&op) {
                break [word, sixteen(random) & 0o77_776, sixteen(random) & 0o77_776];
            }
        };
        let mut registers = [0; 8];
        for register in &mut registers {
            // Mostly addresses of words in core, sometimes anything.
            let any = sixteen(random);
            *register = if random.below(8) == 0 { any } else { any & 0o77_776 };
        }
        registers[SP] = 0o1000 + 2 * u16::try_from(random.below(256)).unwrap();
        if random.below(16) == 0 {
            registers[SP] = 0o376 + 2 * u16::try_from(random.below(4)).unwrap();
        }
        registers[PC] = CODE;
        let core = registers.iter().map(|&at| (at & 0o77_776, sixteen(random))).collect();
        let status = sixteen(random) & if random.below(4) == 0 { 0o377 } else { 0o17 };
        Self { registers, status, code: instruction, core }
    }

    /// Addresses and words to begin with; later ones lie over earlier ones.
    fn words(&self) -> Vec<(u16, u16)> {
        let mut words = self.core.clone();
        // A trap goes to a `nop` of its own, so that the program counter tells which it was.
        for vector in [0o4u16, 0o10, 0o14, 0o20, 0o30, 0o34] {
            let handler = 0o400 + vector;
            words.extend([(vector, handler), (vector + 2, 0o340), (handler, 0o240)]);
        }
        words.extend((CODE..).step_by(2).zip(self.code));
        words
    }

    /// The same in SIMH's words. TRAPS and WAIT are what the case before may have left.
    fn commands(&self, out: &mut String) {
        for (address, word) in self.words() {
            let _ = writeln!(out, "d {address:o} {word:o}");
        }
        for (at, value) in self.registers.iter().enumerate() {
            let name = ["r0", "r1", "r2", "r3", "r4", "r5", "sp", "pc"][at];
            let _ = writeln!(out, "d {name} {value:o}");
        }
        let _ = writeln!(out, "d psw {:o}\nd traps 0\nd wait 0\nstep 2", self.status);
        out.push_str("e r0-sp,pc,psw\n");
        for (address, _) in &self.core {
            let _ = writeln!(out, "e {address:o}");
        }
    }

    /// What ours makes of it: registers, status, core. Nothing where it met a device or stopped;
    /// then the machine is as it was.
    fn ours(&self, machine: &mut Pdp11) -> Option<Vec<u16>> {
        let (memory, accesses) = (machine.memory.clone(), machine.bus.accesses);
        for (address, word) in self.words() {
            machine.memory.set_word(address, word);
        }
        machine.cpu = Cpu::default();
        machine.cpu.registers = self.registers;
        machine.cpu.set_status(self.status);
        let stop = machine.run(&mut (), machine.now() + 2);
        if machine.bus.accesses != accesses || stop != Stop::Limit {
            machine.memory = memory;
            return None;
        }
        let mut result = machine.cpu.registers.to_vec();
        result.push(machine.cpu.status());
        result.extend(self.core.iter().map(|&(at, _)| machine.memory.word(at).unwrap_or(0)));
        Some(result)
    }

    fn shown(&self) -> String {
        let mut text = String::new();
        self.commands(&mut text);
        text
    }
}

/// The numbers behind the colons of SIMH's answers.
fn numbers(answer: &str) -> impl Iterator<Item = u16> {
    answer.lines().filter_map(|line| {
        let (_, value) = line.split_once(":\t")?;
        u16::from_str_radix(value.trim(), 8).ok()
    })
}

/// Commands for SIMH, and each case with our result.
struct Batch {
    commands: String,
    expected: Vec<(Case, Vec<u16>)>,
}

impl Batch {
    fn new(random: &mut Random, machine: &mut Pdp11) -> Self {
        // Both begin each batch with core of zeroes.
        machine.memory = Memory::new(0o100_000);
        let (mut commands, mut expected) = (MACHINE.to_owned(), Vec::new());
        while (expected.len() as u64) < BATCH {
            let case = Case::new(random);
            if let Some(result) = case.ours(machine) {
                case.commands(&mut commands);
                expected.push((case, result));
            }
        }
        Self { commands, expected }
    }

    /// Panics at the first case of which SIMH makes something else.
    fn compare(&self) {
        let folder = tempfile::tempdir().unwrap();
        let answer = simh(folder.path(), &self.commands);
        let mut theirs = numbers(&answer);
        for (case, ours) in &self.expected {
            let theirs: Vec<u16> = theirs.by_ref().take(ours.len()).collect();
            assert_eq!(&theirs, ours, "SIMH is left; after\n{}", case.shown());
        }
    }
}

#[test]
fn random_instructions_do_what_they_do_in_simh() {
    if !is_there() {
        return skip("the processor against SIMH: Debian's package simh is absent");
    }
    let mut timing = Timing::instant();
    timing.clock_ticks = 0;
    let mut machine = Pdp11::new(&timing, 0o100_000, Vec::new(), Vec::new());
    let mut random = Random::new(11);
    let mut begun = 0;
    while begun < CASES {
        // One thread draws all cases, so that they are the same however long SIMH takes.
        let batches = [(); AT_ONCE].map(|()| Batch::new(&mut random, &mut machine));
        thread::scope(|scope| {
            for batch in &batches {
                scope.spawn(move || batch.compare());
                begun += BATCH;
            }
        });
    }
}

#[test]
fn random_arithmetic_gives_what_it_gives_in_simh() {
    if !is_there() {
        return skip("the arithmetic element against SIMH: Debian's package simh is absent");
    }
    let (mut random, mut commands) = (Random::new(12), MACHINE.to_owned());
    let mut expected = Vec::new();
    for _ in 0..BATCH {
        let edge = |random: &mut Random| match random.below(8) {
            0 => [0, 1, 0x7fff, 0x8000, 0xffff, 0xc000][usize::try_from(random.below(6)).unwrap()],
            _ => sixteen(random),
        };
        let (ac, mq, operand) = (edge(&mut random), edge(&mut random), edge(&mut random));
        let (counts, codes) = (sixteen(&mut random) & 0o77, sixteen(&mut random) & 0o301);
        let register = 2 * (sixteen(&mut random) & 7);
        let is_byte = random.below(4) == 0;
        // Half of the quotients should fit.
        let ac = if random.below(2) == 0 { ac & 0o17 } else { ac };
        let mut ke = Ke11::default();
        ke.write(4, Write::Word(mq));
        ke.write(2, Write::Word(ac));
        ke.write(0o10, Write::Word(codes << 8 | counts));
        let low = operand.to_le_bytes()[0];
        ke.write(register, if is_byte { Write::Low(low) } else { Write::Word(operand) });
        expected.push([ke.read(2), ke.read(4), ke.read(0o10) & 0o77, ke.read(0o10) >> 8]);
        let instruction = if is_byte { 0o110_037 } else { 0o010_037 };
        let _ = writeln!(
            commands,
            "d ke ac {ac:o}\nd ke mq {mq:o}\nd ke sc {counts:o}\nd ke sr {codes:o}\nd r0 {operand:o}\n\
             d 2000 {instruction:o}\nd 2002 {:o}\nd pc 2000\nd psw 0\nd traps 0\nstep 1\n\
             d 2000 13701\nd 2002 177310\nd pc 2000\nstep 1\ne ke ac,mq,sc\ne r1",
            0o177_300 + register
        );
    }
    let folder = tempfile::tempdir().unwrap();
    let answer = simh(folder.path(), &commands);
    let mut theirs = numbers(&answer);
    for ours in expected {
        let mut found = [0; 4];
        found.fill_with(|| theirs.next().unwrap());
        // Reading the register is what brings SIMH's up to date.
        found[3] >>= 8;
        assert_eq!(found, ours, "SIMH is left");
    }
}
