//! Names of the kernel's functions, asked of the kernel itself.
//!
//! A program of ours prints each address with `%ps` (`bpf_snprintf` in `kernel/bpf/helpers.c`), which looks it
//! up in the kernel's own table. `/proc/kallsyms` has the same names, and takes the kernel 0.1 s to print.
//! Cost: 1 ms to load, and less than a microsecond for each address.

use std::io;

use crate::sys::bpf::code::{CALL, MOVE, MOVE_NUMBER, address, for_each, instruction};
use crate::sys::bpf::{Instruction, Program, Shared, Text};

/// Addresses that are looked up at once.
const COUNT: usize = 256;
/// Room for a name, its end in it. Longer names are cut.
const NAME_SHIFT: u8 = 7;
const NAME_BYTES: usize = 1 << NAME_SHIFT;
const NAMES_FROM: usize = COUNT * 8;
const PRINT: i32 = 165;

/// The name of the function at each address; none where there is no function.
///
/// # Errors
/// `EPERM` without `CAP_BPF` and `CAP_PERFMON`, or root; others on kernels before 5.13.
pub(crate) fn names(addresses: &[u64]) -> io::Result<Vec<Option<String>>> {
    let pages = (NAMES_FROM + COUNT * NAME_BYTES).div_ceil(rustix::param::page_size());
    let mut shared = Shared::zeroes(pages)?;
    let format = Text::new(c"%ps")?;
    let program = Program::load(&look_up(shared.number(), format.number()))?;
    let mut names = Vec::with_capacity(addresses.len());
    for some in addresses.chunks(COUNT) {
        let words = shared.words_mut();
        words[..COUNT].fill(0);
        words[..some.len()].copy_from_slice(some);
        program.run(&mut shared)?;
        let of = |at: usize| {
            let begin = (NAMES_FROM + at * NAME_BYTES) / 8;
            name(&shared.words()[begin..begin + NAME_BYTES / 8])
        };
        // After a zero nothing is looked up.
        let looked_up = some.iter().position(|&address| address == 0).unwrap_or(some.len());
        names.extend((0..some.len()).map(|at| of(at).filter(|_| at < looked_up)));
    }
    Ok(names)
}

/// An address that is no function's is printed as a number. A module stands in brackets behind its function.
fn name(words: &[u64]) -> Option<String> {
    let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_ne_bytes()).collect();
    let end = bytes.iter().position(|&byte| byte == 0)?;
    let text = std::str::from_utf8(&bytes[..end]).ok()?;
    let name = text.split(' ').next()?;
    (!name.is_empty() && !name.starts_with("0x")).then(|| name.to_owned())
}

/// Prints the name of each address of the shared memory, up to the first 0, behind all of them.
fn look_up(shared: i32, format: i32) -> Vec<Instruction> {
    let [text, behind] = address(3, format);
    let number = |value: usize| i32::try_from(value).unwrap_or(i32::MAX);
    let print = [
        instruction(MOVE_NUMBER, 2, 0, 0, number(NAME_BYTES)),
        text,
        behind,
        instruction(MOVE, 4, 9, 0, 0),
        instruction(MOVE_NUMBER, 5, 0, 0, 8),
        instruction(CALL, 0, 0, 0, PRINT),
    ];
    for_each(shared, number(COUNT), (number(NAMES_FROM), NAME_SHIFT), &print)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    /// Functions of the kernel's list, and addresses within them.
    #[test]
    fn functions_have_the_names_of_the_kernels_list() {
        let text = fs::read_to_string("/proc/kallsyms").unwrap();
        let mut listed: Vec<(u64, &str)> = text
            .lines()
            .filter_map(|line| {
                let mut words = line.split([' ', '\t']);
                let address = u64::from_str_radix(words.next()?, 16).ok()?;
                matches!(words.next()?, "t" | "T").then_some((address, words.next()?))
            })
            .collect();
        listed.retain(|&(address, _)| address != 0);
        // Without the rights there is nothing to see; `nbuf doctor` says so.
        if listed.is_empty() {
            return;
        }
        listed.sort_unstable();
        // Several names at one address are not distinguished.
        let alone: Vec<_> = listed
            .windows(3)
            .filter(|near| near[0].0 < near[1].0 && near[1].0 + 1 < near[2].0)
            .map(|near| near[1])
            // Programs of other tests go meanwhile.
            .filter(|(_, name)| !name.starts_with("bpf_"))
            .step_by(listed.len() / 600)
            .collect();
        let addresses: Vec<u64> = alone.iter().map(|&(address, _)| address + 1).collect();
        let found = match names(&addresses) {
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied => return,
            found => found.unwrap(),
        };
        assert_eq!(found.len(), addresses.len());
        assert!(found.len() > 2 * COUNT, "{}", found.len());
        for ((address, want), found) in alone.iter().zip(&found) {
            let want = &want[..want.len().min(NAME_BYTES - 1)];
            assert_eq!(found.as_deref(), Some(want), "{address:x}");
        }
        assert_eq!(names(&[addresses[0], 0, addresses[1]]).unwrap()[1..], [None, None]);
        assert_eq!(names(&[1]).unwrap(), [None]);
    }
}
