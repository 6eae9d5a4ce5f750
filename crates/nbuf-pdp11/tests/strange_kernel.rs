//! A kernel that is not the one the meters know: no address of it is believed, and discs are counted.

use nbuf_pdp11::Stop;
use nbuf_pdp11::memory::{CORE_BYTES, Memory};
use nbuf_pdp11::timing::Timing;
use nbuf_pdp11::unix::guest::{Guest, Images, Slot};
use nbuf_pdp11::unix::kernel::{Kernel, KernelError, symbol};
use nbuf_pdp11::unix::stages::{self, StageError};

const SYMBOLS: [(&str, u16); 7] = [
    ("bufaloc", 0o16346),
    ("preread", 0o15546),
    ("dskrd", 0o15572),
    ("wslot", 0o15640),
    ("idle", 0o7310),
    ("bufp", 0o25126),
    ("cdev", 0o25204),
];

/// An a.out of no text with these symbols.
fn object(symbols: &[(&str, u16)]) -> Vec<u8> {
    let mut bytes = vec![0; 16];
    bytes[..2].copy_from_slice(&0o407_u16.to_le_bytes());
    for (name, value) in symbols {
        let mut row = [0; 12];
        row[..name.len()].copy_from_slice(name.as_bytes());
        row[10..].copy_from_slice(&value.to_le_bytes());
        bytes.extend(row);
    }
    bytes
}

#[test]
fn no_address_is_believed_whose_code_is_another() {
    let memory = Memory::new(CORE_BYTES);
    assert_eq!(symbol(&object(&SYMBOLS), "idle"), Ok(0o7310));
    assert_eq!(Kernel::verify(b"#!/bin/sh\n", &memory), Err(KernelError::NotAnObject));
    let short = object(&SYMBOLS[..6]);
    assert_eq!(Kernel::verify(&short, &memory), Err(KernelError::NoSymbol("cdev")));
    let other = KernelError::OtherCode { name: "bufaloc", address: 0o16346 };
    assert_eq!(Kernel::verify(&object(&SYMBOLS), &memory), Err(other.clone()));
    let told = "the kernel in core differs from the known code at bufaloc (016346)";
    assert_eq!(other.to_string(), told);
}

#[test]
fn discs_are_counted_in_any_kernel() {
    // mov $-400,*$rfwc; mov $1000,*$rfcma; clr *$rfda; clr *$rfdae; mov $5,*$rfcs; 1: tstb *$rfcs; bpl 1b; halt
    let program = [
        0o012_737, 0o177_400, 0o177_462, 0o012_737, 0o1000, 0o177_464, 0o005_037, 0o177_466,
        0o005_037, 0o177_470, 0o012_737, 5, 0o177_460, 0o105_737, 0o177_460, 0o100_375, 0,
    ];
    let mut drum = vec![0; 988 * 512];
    let words = program.iter().flat_map(|word: &u16| word.to_le_bytes());
    for (place, byte) in drum[964 * 512 + 0o400..].iter_mut().zip(words) {
        *place = byte;
    }
    let images = Images { drum, pack: Vec::new() };
    let mut guest = Guest::boot(images, Slot::Warm, &Timing::hardware(60));
    assert!(guest.hook(&object(&SYMBOLS)).is_err() && guest.meters.kernel().is_none());
    let stop = guest.machine.run(&mut guest.meters, u64::MAX);
    let tally = guest.machine.bus.drum.transfer.tally();
    assert_eq!((stop, tally.reads, tally.writes, tally.words), (Stop::Halt, 1, 0, 256));
    assert!(guest.meters.requests.is_empty() && guest.meters.instructions > 8);
}

#[test]
fn images_without_the_sources_are_told_before_anything_runs() {
    let images = Images { drum: vec![0; 509_952], pack: vec![0; 2_490_368] };
    let error = stages::build(&images, 0..=7, &mut |_| ()).err();
    assert_eq!(error, Some(StageError::NoFile("folder /usr on the drum")));
}
