//! Small programs of our own in machine code, which drive every device and every interrupt.

use nbuf_pdp11::cpu::{PC, SP};
use nbuf_pdp11::timing::Timing;
use nbuf_pdp11::{Pdp11, Stop};

const START: u16 = 0o1000;

/// A machine with a program at 1000, a stack below it, and both discs filled with their block numbers.
fn machine(timing: &Timing, program: &[u16]) -> Pdp11 {
    let image =
        |blocks: u16| (0..blocks).flat_map(|block| block.to_le_bytes().repeat(256)).collect();
    let mut machine = Pdp11::new(timing, 0o100_000, image(1024), image(4872));
    put(&mut machine, START, program);
    machine.cpu.registers[PC] = START;
    machine.cpu.registers[SP] = START;
    machine
}

fn put(machine: &mut Pdp11, address: u16, words: &[u16]) {
    for (at, &word) in (address..).step_by(2).zip(words) {
        assert!(machine.memory.set_word(at, word));
    }
}

/// Runs to HALT under every timing, and looks.
fn check(program: &[u16], prepare: impl Fn(&mut Pdp11), look: impl Fn(&mut Pdp11)) {
    for timing in [Timing::instant(), Timing::simh(250, 10), Timing::hardware(60)] {
        let mut machine = machine(&timing, program);
        prepare(&mut machine);
        let stop = machine.run(&mut (), 10 * timing.second_ticks);
        assert_eq!(stop, Stop::Halt, "{} at {:06o}", timing.name, machine.cpu.registers[PC]);
        look(&mut machine);
    }
}

fn word(machine: &Pdp11, address: u16) -> u16 {
    machine.memory.word(address).unwrap()
}

/// `mov $value,*$address`
fn mov(value: u16, address: u16) -> [u16; 3] {
    [0o012_737, value, address]
}

const HALT: [u16; 1] = [0];
const WAIT: [u16; 1] = [1];
/// `1: tst r5; beq 1b`. A WAIT may come after what it waits for.
const UNTIL_HEARD: [u16; 2] = [0o005_705, 0o001_776];
/// `inc r5; rti`, a handler that counts.
const COUNT: [u16; 2] = [0o005_205, 2];

fn handler(machine: &mut Pdp11, vector: u16) {
    put(machine, vector, &[0o700, 0o340]);
    put(machine, 0o700, &COUNT);
}

#[test]
fn the_drum_reads_and_interrupts() {
    let program = [
        &mov(0o177_400, 0o177_462)[..],
        &mov(0o20_000, 0o177_464),
        &mov(5 * 256, 0o177_466),
        &mov(2, 0o177_470),
        &mov(0o105, 0o177_460),
        &UNTIL_HEARD,
        &HALT,
    ]
    .concat();
    check(
        &program,
        |machine| handler(machine, 0o204),
        |machine| {
            assert_eq!(machine.cpu.registers[5], 1);
            let block = 2 << 8 | 5;
            assert_eq!((word(machine, 0o20_000), word(machine, 0o20_776)), (block, block));
            assert_eq!(word(machine, 0o21_000), 0);
            assert_eq!(machine.bus.read(0, 0o177_462), Ok(0));
            assert_eq!(machine.bus.read(0, 0o177_464), Ok(0o21_000));
            assert_eq!(machine.bus.read(0, 0o177_466), Ok(6 * 256));
            assert_eq!(machine.bus.drum.transfer.tally().reads, 1);
        },
    );
}

#[test]
fn the_drum_writes_and_is_polled() {
    let program = [
        &mov(0o177_776, 0o177_462)[..],
        &mov(0o400, 0o177_464),
        &mov(256, 0o177_466),
        &mov(3, 0o177_460),
        // 1: tstb *$177460; bpl 1b
        &[0o105_737, 0o177_460, 0o100_375],
        &HALT,
    ]
    .concat();
    check(
        &program,
        |machine| put(machine, 0o400, &[0o123_456, 7]),
        |machine| {
            let image = machine.bus.drum.transfer.image();
            assert_eq!(image[512..518], [0o56, 0o247, 7, 0, 1, 0]);
            assert_eq!(machine.bus.drum.transfer.tally().writes, 1);
        },
    );
}

#[test]
fn the_drum_says_what_is_wrong() {
    let program = |count: u16, memory: u16, extension: u16, command: u16| {
        [
            &mov(count, 0o177_462)[..],
            &mov(memory, 0o177_464),
            &mov(extension, 0o177_470),
            &mov(command, 0o177_460),
            &[0o105_737, 0o177_460, 0o100_375],
            &HALT,
        ]
        .concat()
    };
    let status = |machine: &mut Pdp11| machine.bus.read(0, 0o177_460).unwrap() & 0o177_400;
    check(
        &program(0o177_400, 0o77_776, 0, 5),
        |_| (),
        |machine| {
            assert_eq!(status(machine), 0o140_000, "core ended after one word");
            assert_eq!(machine.bus.read(0, 0o177_462), Ok(0o177_401));
        },
    );
    check(
        &program(0o177_400, 0, 4, 5),
        |_| (),
        |machine| {
            assert_eq!(status(machine), 0o104_000, "one platter has four extensions");
        },
    );
    // The program is not what the first block holds.
    check(
        &program(0o177_776, 0o1000, 0, 7),
        |_| (),
        |machine| {
            assert_eq!(status(machine), 0o120_000);
        },
    );
}

#[test]
fn the_pack_reads_seeks_and_interrupts() {
    // Cylinder 9, surface 1, sector 3 is block 9 * 24 + 12 + 3 = 231.
    let program = [
        &mov(0o177_400, 0o177_406)[..],
        &mov(0o20_000, 0o177_410),
        &mov(9 << 5 | 1 << 4 | 3, 0o177_412),
        &mov(0o105, 0o177_404),
        &UNTIL_HEARD,
        &HALT,
    ]
    .concat();
    check(
        &program,
        |machine| handler(machine, 0o220),
        |machine| {
            assert_eq!((word(machine, 0o20_000), machine.cpu.registers[5]), (231, 1));
            assert_eq!(machine.bus.read(0, 0o177_412), Ok(9 << 5 | 1 << 4 | 4));
            assert_eq!(machine.bus.read(0, 0o177_404), Ok(0o304));
        },
    );
    // A seek interrupts when it is begun, and when it is over, here after a loop.
    let program = [
        &mov(100 << 5, 0o177_412)[..],
        &mov(0o111, 0o177_404),
        // 1: cmp r5,$2; bne 1b
        &[0o020_527, 2, 0o001_375],
        &HALT,
    ]
    .concat();
    check(
        &program,
        |machine| handler(machine, 0o220),
        |machine| {
            assert_eq!(machine.bus.read(0, 0o177_404).unwrap() & 0o20_200, 0o20_200);
            assert_eq!(machine.cpu.registers[5], 2);
        },
    );
}

#[test]
fn the_pack_says_what_is_wrong() {
    let program = |place: u16, command: u16| {
        [&mov(place, 0o177_412)[..], &mov(command, 0o177_404), &HALT].concat()
    };
    let errors = |place, command, want| {
        check(
            &program(place, command),
            |_| (),
            |machine| {
                assert_eq!(machine.bus.read(0, 0o177_402), Ok(want), "{place:o} {command:o}");
                assert_eq!(machine.bus.read(0, 0o177_404).unwrap() & 0o140_200, 0o140_200);
            },
        );
    };
    errors(12, 5, 0o40);
    errors(203 << 5, 5, 0o100);
    errors(1 << 13, 5, 0o200);
    errors(0, 0o2005, 0o4000);
}

#[test]
fn the_console_echoes_what_is_typed() {
    // 1: tstb tks; bpl 1b; 2: tstb tps; bpl 2b; mov tkb,tpb; dec r4; bne 1b; 3: tstb tps; bpl 3b
    let program = [
        0o105_737, 0o177_560, 0o100_375, 0o105_737, 0o177_564, 0o100_375, 0o013_737, 0o177_562,
        0o177_566, 0o005_304, 0o001_365, 0o105_737, 0o177_564, 0o100_375, 0,
    ];
    let prepare = |machine: &mut Pdp11| {
        machine.cpu.registers[4] = 3;
        machine.type_in(b"abc");
    };
    check(&program, prepare, |machine| {
        let printed = machine.bus.console.take_printed();
        let text: Vec<u8> = printed.iter().map(|printed| printed.character).collect();
        assert_eq!(text, b"abc");
        assert!(printed.windows(2).all(|pair| pair[0].ticks < pair[1].ticks));
    });
}

#[test]
fn the_clock_ticks() {
    let program = [&mov(0o100, 0o177_546)[..], &[1, 1, 1, 1, 1], &HALT].concat();
    // inc r5; mov $100,lks; rti: a tick without an acknowledgement interrupts once.
    let prepare = |machine: &mut Pdp11| {
        put(machine, 0o100, &[0o700, 0o340]);
        put(machine, 0o700, &[0o005_205, 0o012_737, 0o100, 0o177_546, 2]);
    };
    check(&program, prepare, |machine| {
        assert_eq!(machine.cpu.registers[5], 5);
        assert_eq!(machine.bus.clock.ticked(), 5);
    });
}

#[test]
fn keyboard_and_printer_interrupt() {
    let program =
        [&mov(0o100, 0o177_560)[..], &WAIT, &mov(0o100, 0o177_564), &mov(0, 0o177_560), &HALT]
            .concat();
    let prepare = |machine: &mut Pdp11| {
        handler(machine, 0o60);
        handler(machine, 0o64);
        machine.type_in(b"x");
    };
    check(&program, prepare, |machine| {
        assert_eq!(machine.cpu.registers[5], 2, "the key, and the printer that was free already");
    });
}

#[test]
fn a_request_is_heard_before_the_instruction_behind_the_status_that_lets_it_in() {
    // Priority 7; the clock ticks meanwhile; priority 0 as a memory location; then count in r4.
    let program = [
        &mov(0o340, 0o177_776)[..],
        &mov(0o100, 0o177_546),
        // 1: tstb lks; bpl 1b
        &[0o105_737, 0o177_546, 0o100_375],
        &[0o005_037, 0o177_776],
        &[0o005_204],
        &HALT,
    ]
    .concat();
    let prepare = |machine: &mut Pdp11| {
        put(machine, 0o100, &[0o700, 0o340]);
        // mov r4,r5; rti
        put(machine, 0o700, &[0o010_405, 2]);
        machine.cpu.registers[5] = 9;
    };
    check(&program, prepare, |machine| {
        assert_eq!((machine.cpu.registers[5], machine.cpu.registers[4]), (0, 1));
    });
}

#[test]
fn switches_lines_and_the_arithmetic_element_answer() {
    let program = [
        // mov *$177570,r0; bis $1,*$174070; mov $-6,mq; mov $7,mul; mov mq,r1; mov ac,r2
        &[0o013_700, 0o177_570, 0o052_737, 1, 0o174_070][..],
        &mov(0o177_772, 0o177_304),
        &mov(7, 0o177_306),
        &[0o013_701, 0o177_304, 0o013_702, 0o177_302],
        &HALT,
    ]
    .concat();
    check(
        &program,
        |machine| machine.bus.switches = 0o173_700,
        |machine| {
            let [r0, r1, r2, ..] = machine.cpu.registers;
            assert_eq!((r0, r1.cast_signed(), r2), (0o173_700, -42, 0o177_777));
        },
    );
}

#[test]
fn a_line_interrupts_when_somebody_connects_and_echoes_what_is_typed() {
    let program = [
        &mov(0o511, 0o174_030)[..],
        &UNTIL_HEARD,
        // tst *$174032; 1: tstb *$174030; bpl 1b; mov *$174032,*$174036; 2: tstb *$174034; bpl 2b
        &[0o005_737, 0o174_032, 0o105_737, 0o174_030, 0o100_375],
        &[0o013_737, 0o174_032, 0o174_036, 0o105_737, 0o174_034, 0o100_375],
        &HALT,
    ]
    .concat();
    let prepare = |machine: &mut Pdp11| {
        handler(machine, 0o330);
        machine.connect(3);
        machine.type_on(3, b"x");
    };
    check(&program, prepare, |machine| {
        assert_eq!(machine.cpu.registers[5], 2, "carrier and a character interrupt");
        assert_eq!(machine.bus.lines.take_printed(3), b"x");
        assert!(machine.bus.lines.take_printed(2).is_empty());
    });
}

#[test]
fn what_the_processor_cannot_do_traps() {
    // Each vector leaves its own number in r5 and halts.
    let traps = |instruction: u16, r0: u16, vector: u16| {
        let prepare = |machine: &mut Pdp11| {
            for (at, vector) in (0u16..).zip([0o4, 0o10, 0o14, 0o20, 0o30, 0o34]) {
                let handler = 0o600 + 10 * at;
                put(machine, vector, &[handler, 0]);
                put(machine, handler, &[0o012_705, vector, 0]);
            }
            machine.cpu.registers[0] = r0;
        };
        check(&[instruction, 0, 0], prepare, |machine| {
            assert_eq!(machine.cpu.registers[5], vector, "{instruction:06o}");
        });
    };
    traps(0o000_101, 0, 0o4);
    traps(0o004_001, 0, 0o4);
    traps(0o005_010, 1, 0o4);
    traps(0o005_010, 0o100_000, 0o4);
    traps(0o005_010, 0o160_000, 0o4);
    traps(0o070_001, 0, 0o10);
    traps(0o077_001, 0, 0o10);
    traps(0o000_006, 0, 0o10);
    traps(0o006_700, 0, 0o10);
    traps(0o000_003, 0, 0o14);
    traps(0o000_004, 0, 0o20);
    traps(0o104_000, 0, 0o30);
    traps(0o104_400, 0, 0o34);
}

#[test]
fn a_machine_that_waits_for_nothing_or_has_no_stack_says_so() {
    let mut timing = Timing::instant();
    timing.clock_ticks = 0;
    let mut asleep = machine(&timing, &WAIT);
    assert_eq!(asleep.run(&mut (), u64::MAX), Stop::Asleep);
    let mut lost = machine(&timing, &[3]);
    lost.cpu.registers[SP] = 0o1001;
    assert_eq!(lost.run(&mut (), 100), Stop::StackAbort);
    let mut branches = machine(&timing, &[0o000_777]);
    assert_eq!((branches.run(&mut (), 100), branches.now()), (Stop::Limit, 100));
}
