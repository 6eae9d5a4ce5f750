//! The dynamic linker: from the end of `execve` to the program's own first instruction.
//!
//! The kernel maps the program first and then its linker, and starts the linker. The linker works until something of
//! the program itself runs: its first page is not there yet, so that the first touch of it is a fault. A system
//! call from neither of the two says so too: of a library, whose own beginning is done by then.
//! A static program maps no linker.

/// Code of a file that was mapped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Code {
    /// The inode of the file.
    pub inode: u64,
    /// The first address.
    pub start: u64,
    /// The address behind the last one.
    pub end: u64,
}

impl Code {
    fn has(&self, address: u64) -> bool {
        (self.start..self.end).contains(&address)
    }
}

/// A program that is being executed, and then linked.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Linking {
    program: Option<Code>,
    linker: Option<Code>,
    began_ns: Option<u64>,
}

impl Linking {
    /// The kernel maps code, while it executes the program.
    pub(super) fn maps(&mut self, code: Code) {
        if self.began_ns.is_some() {
            return;
        }
        for known in [&mut self.program, &mut self.linker] {
            match known {
                None => {
                    *known = Some(code);
                    return;
                }
                // It has several pieces.
                Some(known) if known.inode == code.inode => {
                    known.start = known.start.min(code.start);
                    known.end = known.end.max(code.end);
                    return;
                }
                Some(_) => {}
            }
        }
    }

    /// `execve` is done; nothing where the program has no linker.
    pub(super) fn begins(mut self, time_ns: u64) -> Option<Self> {
        self.linker?;
        self.began_ns = Some(time_ns);
        Some(self)
    }

    /// Since when the linker works.
    pub(super) fn began_ns(&self) -> Option<u64> {
        self.began_ns
    }

    /// Whether a fault at this instruction is the program's own.
    pub(super) fn ends_with_fault(&self, instruction: u64) -> bool {
        self.program.is_some_and(|code| code.has(instruction))
    }

    /// Whether a call by this instruction is not the linker's. An unknown one is 0.
    pub(super) fn ends_with_call(&self, instruction: u64) -> bool {
        instruction != 0 && !self.linker.is_some_and(|code| code.has(instruction))
    }
}
