//! `nbuf unix`: scripts, crashes and lines, with small programs of our own in place of a kernel, and with
//! First Edition Unix where `NBUF_UNIX_IMAGES` names a folder with its images.

#[path = "../../nbuf-core/tests/support/mod.rs"]
mod support;

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use nbuf_pdp11::unix::result::SweepDocument;
use support::skip;
use tempfile::TempDir;

const NBUF: &str = env!("CARGO_BIN_EXE_nbuf");
const TIMINGS: [&str; 3] = ["instant", "simh", "hardware"];

/// Images whose warm slot has these words at 0400.
fn images(program: &[&[u16]]) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let mut drum = vec![0; 988 * 512];
    let words = program.concat().into_iter().flat_map(u16::to_le_bytes);
    for (place, byte) in drum[964 * 512 + 0o400..].iter_mut().zip(words) {
        *place = byte;
    }
    fs::write(folder.path().join("rf0.dsk"), drum).unwrap();
    fs::write(folder.path().join("rk0.dsk"), vec![0; 4864 * 512]).unwrap();
    folder
}

/// A copy of the images of Unix, if there are any.
fn unix(what: &str) -> Option<TempDir> {
    let Some(from) = std::env::var_os("NBUF_UNIX_IMAGES").map(PathBuf::from) else {
        skip(&format!("{what}: NBUF_UNIX_IMAGES names no folder with images of V1 Unix"));
        return None;
    };
    let folder = tempfile::tempdir().unwrap();
    for name in ["rf0.dsk", "rk0.dsk"] {
        fs::copy(from.join(name), folder.path().join(name)).unwrap();
    }
    Some(folder)
}

fn boot(images: &Path, options: &[&str], script: &str) -> Output {
    let mut child = Command::new(NBUF)
        .args(["unix", "boot", "--images"])
        .arg(images)
        .args(options)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(script.as_bytes()).unwrap();
    child.wait_with_output().unwrap()
}

/// What was printed, as lines; the guest ends them with LF and CR.
fn lines(output: &Output) -> Vec<String> {
    assert!(output.status.success(), "{output:?}");
    let text = String::from_utf8_lossy(&output.stdout).replace(['\r', '\u{1b}', '\u{6}'], "");
    text.lines().map(|line| line.trim().to_owned()).filter(|line| !line.is_empty()).collect()
}

/// `mov $value,*$address`
fn mov(value: u16, address: u16) -> [u16; 3] {
    [0o012_737, value, address]
}

/// `mov $character,*$tpb; 1: tstb *$tps; bpl 1b`
fn print(character: u8) -> [u16; 6] {
    [0o012_737, u16::from(character), 0o177_566, 0o105_737, 0o177_564, 0o100_375]
}

/// `1: wait; br 1b`
const REST: [u16; 2] = [1, 0o000_776];

#[test]
fn a_guest_that_waits_for_a_disc_is_not_left() {
    // The arm goes to and fro for two seconds, and only then is there something to read.
    let seek = |cylinder: u16| {
        let start = [mov(0o177_400, 0o177_406), mov(0o30_000, 0o177_410)];
        let go = [mov(cylinder << 5, 0o177_412), mov(0o105, 0o177_404)];
        // clr r5; the command; 1: wait; tst r5; beq 1b
        [&[0o005_005][..], &start.concat(), &go.concat(), &[1, 0o005_705, 0o001_775]].concat()
    };
    let there_and_back = [seek(202), seek(0)].concat().repeat(10);
    // mov $10000,sp, and a handler far behind the program: inc r5; rti
    let handler =
        [mov(0o340, 0o222), mov(0o20_000, 0o220), mov(0o005_205, 0o20_000), mov(2, 0o20_002)];
    let start = [&[0o012_706, 0o10_000][..], &handler.concat()].concat();
    let program = images(&[&start, &there_and_back, &print(b'd'), &print(b'\n'), &REST]);
    let output = boot(program.path(), &["--timing", "hardware"], "");
    assert_eq!(lines(&output), ["d"], "{output:?}");
}

#[test]
fn a_crash_is_said_in_the_words_of_the_machine() {
    let said = |program: &[u16], options: &[&str]| {
        let output = boot(images(&[program]).path(), options, "");
        assert_eq!(output.status.code(), Some(125), "{output:?}");
        let text = String::from_utf8(output.stderr).unwrap();
        assert!(text.contains("sp 0"), "registers are shown: {text}");
        let last = text.lines().last().unwrap().to_owned();
        last.strip_prefix("nbuf: ").unwrap_or(&last).to_owned()
    };
    let advice = "; build the images again, as `nbuf unix --help` says";
    // mov $1001,sp; trap 0
    assert_eq!(
        said(&[0o012_706, 0o1001, 0o104_400], &[]),
        format!(
            "the guest stopped at 000406: its trap to 034 (TRAP) found no stack: sp is 001001, and it \
             is odd{advice}"
        )
    );
    // mov $400,sp; clr *$140000, whose vector is 0, where the core has HALT
    assert_eq!(
        said(&[0o012_706, 0o1000, 0o005_037, 0o140_000], &[]),
        format!(
            "the guest halted at 000000: nothing answers at an address through 004 at 000410 led \
             there{advice}"
        )
    );
    assert_eq!(said(&[0, 1], &[]), format!("the guest halted at 000400{advice}"));
    // 1: br 1b
    assert_eq!(said(&[0o000_777], &[]), format!("the guest loops at 000400-000400{advice}"));
}

#[test]
fn a_drum_without_a_kernel_is_no_crash() {
    for (options, advice) in [
        (&[][..], "has no kernel in its warm slot: build the images of Unix V1 first"),
        (&["--cold"], "has no kernel in its cold slot: boot without --cold"),
    ] {
        let output = boot(images(&[]).path(), options, "");
        let said = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(125), "{said}");
        assert!(said.contains(advice) && said.lines().count() == 1, "{said}");
    }
}

/// Assembles with the kernel in the cold slot, after `date` in the warm one.
const ASSEMBLE: &str = "root\ndate\nchdir /usr/sys\nas u*.s\nls -l a.out\nwho\n";

/// Every line was typed at a prompt, and its answer came before the next.
fn is_in_order(output: &Output, what: &str) {
    let lines = lines(output);
    let expected = [
        ":login: root",
        "root",
        "# date",
        "Fri Jan",
        "# chdir /usr/sys",
        "# as u*.s",
        "I",
        "II",
        "# ls -l a.out",
        "total",
        "",
        "# who",
        "root    tty8",
        "#",
    ];
    assert_eq!(lines.len(), expected.len(), "{what}: {lines:?}");
    for (line, start) in lines.iter().zip(expected) {
        assert!(line.starts_with(start), "{what}: {lines:?}");
    }
    assert!(lines[10].contains("36432"), "{what}: {lines:?}");
}

#[test]
fn lines_are_typed_when_unix_reads_the_console() {
    let Some(folder) = unix("lines typed on the console of Unix") else { return };
    let nbuf_1 = "root\nchdir /usr/boot\nas msys2.s\nmv a.out msys2\nchdir /usr/sys\ned u0.s\n/nbuf/p\n\
                  s/= 6/= 1/p\nw\nq\nas u*.s\nmv a.out nbuf.1\n/usr/boot/msys2 1 nbuf.1\n";
    let built = boot(folder.path(), &["--timing", "hardware", "--write-back"], nbuf_1);
    assert!(lines(&built).iter().any(|line| line == "nbuf = 1"), "{built:?}");
    for timing in TIMINGS {
        for cold in [&[][..], &["--cold"]] {
            let options = [&["--timing", timing][..], cold].concat();
            is_in_order(&boot(folder.path(), &options, ASSEMBLE), &format!("{options:?}"));
        }
    }
}

#[test]
fn kernels_that_are_too_large_are_refused_as_the_guest_refuses_them() {
    let Some(folder) = unix("kernels with more buffers than there is room for") else { return };
    let output = Command::new(NBUF)
        .args(["unix", "sweep", "--nbuf", "6,1,7..12", "--samples", "1", "--json", "--images"])
        .arg(folder.path())
        .output()
        .unwrap();
    assert!(output.status.success(), "{output:?}");
    let document: SweepDocument = serde_json::from_slice(&output.stdout).unwrap();
    let numbers: Vec<u16> = document.rows.iter().map(|row| row.nbuf).collect();
    assert_eq!(numbers, [1, 6]);
    assert_eq!(document.rows[0].requests, document.rows[1].requests, "larger ones change nothing");
    let refused: Vec<u16> = document.refused.iter().map(|refused| refused.nbuf).collect();
    assert_eq!(refused, [7, 8, 9, 10, 11, 12]);
    for refused in &document.refused {
        let why = &refused.why;
        let names_what_happened = ["stopped at 0", "halted at 0", "panicked at 0", "loops at 0"];
        assert!(names_what_happened.iter().any(|what| why.contains(what)), "{why}");
        assert!(!why.contains("Abort") && !why.contains("at 173700"), "{why}");
    }
    // Where the guest refuses all, there is no table.
    let none = Command::new(NBUF)
        .args(["unix", "sweep", "--nbuf", "12", "--samples", "1", "--images"])
        .arg(folder.path())
        .output()
        .unwrap();
    assert_eq!(none.status.code(), Some(125), "{none:?}");
    let seven = &document.refused[0].why;
    assert!(seven.ends_with(
        "the guest stopped at 011600: its trap to 014 (the T bit of the status) found no stack: sp is \
         177776, and below it no memory answers"
    ));
}
