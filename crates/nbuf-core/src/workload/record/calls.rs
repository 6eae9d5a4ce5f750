//! System calls that write to files, and those that say which file a descriptor is and where it
//! stands: two tracepoints, narrowed by a filter in the kernel. Pure.

use super::events::{Body, Field, FormatError, field_named, number};
use crate::sys::architecture::{self, Old};

/// What a system call means to the bookkeeping of descriptors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// A write began, here or where the descriptor stands.
    Write {
        /// The descriptor.
        file: u32,
        /// Byte position, if the call names one.
        position: Option<u64>,
    },
    /// The descriptor is being moved.
    Seek {
        /// The descriptor.
        file: u32,
    },
    /// These descriptors stand for nothing now, or for something else.
    Gone {
        /// The first of them.
        first: u32,
        /// The last of them.
        last: u32,
    },
    /// A call opened a file and returned its descriptor.
    Opened {
        /// The descriptor.
        file: u32,
    },
    /// The write or the seek is over, with this result.
    Returned(i64),
}

/// One system call entered or left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Call {
    /// `CLOCK_MONOTONIC`.
    pub time_ns: u64,
    /// The process, whose descriptors these are.
    pub process: u32,
    /// The thread.
    pub task: u32,
    /// What it does.
    pub step: Step,
}

/// Where a call has its descriptor and its position.
#[derive(Clone, Copy)]
enum Shape {
    Write {
        file: usize,
        position: Option<usize>,
    },
    /// Counts only where this argument, a pointer to a position, is null.
    Splice {
        file: usize,
        pointer: usize,
    },
    Seek,
    Close,
    CloseRange,
    Replace,
    Over,
    Open,
}

const SHAPES: [(libc::c_long, Shape); 15] = [
    (libc::SYS_write, Shape::Write { file: 0, position: None }),
    (libc::SYS_writev, Shape::Write { file: 0, position: None }),
    (libc::SYS_pwrite64, Shape::Write { file: 0, position: Some(3) }),
    (libc::SYS_pwritev, Shape::Write { file: 0, position: Some(3) }),
    (libc::SYS_pwritev2, Shape::Write { file: 0, position: Some(3) }),
    (libc::SYS_sendfile, Shape::Write { file: 0, position: None }),
    (libc::SYS_splice, Shape::Splice { file: 2, pointer: 3 }),
    (libc::SYS_lseek, Shape::Seek),
    (libc::SYS_close, Shape::Close),
    (libc::SYS_close_range, Shape::CloseRange),
    (libc::SYS_dup3, Shape::Replace),
    (libc::SYS_exit_group, Shape::Over),
    (libc::SYS_execve, Shape::Over),
    (libc::SYS_openat, Shape::Open),
    (libc::SYS_openat2, Shape::Open),
];

fn shapes() -> impl Iterator<Item = (libc::c_long, Shape)> {
    let old = architecture::OLD.iter().filter_map(|&(number, old)| match old {
        Old::Open | Old::Create => Some((number, Shape::Open)),
        Old::Duplicate => Some((number, Shape::Replace)),
        Old::Rename | Old::Unlink => None,
    });
    SHAPES.into_iter().chain(old)
}

/// How to read the records of the two tracepoints.
#[derive(Clone, Copy, Debug)]
pub struct Calls {
    /// Number of the tracepoint of calls entered.
    pub enter: u16,
    /// Number of the tracepoint of calls left.
    pub exit: u16,
    entered: Field,
    arguments: Field,
    left: Field,
    result: Field,
}

/// Directory of the tracepoint of calls entered.
pub const ENTER: &str = "raw_syscalls/sys_enter";
/// Directory of the tracepoint of calls left.
pub const EXIT: &str = "raw_syscalls/sys_exit";

impl Calls {
    /// Reads the two `format` files.
    pub fn parse(enter: &str, exit: &str) -> Result<Self, FormatError> {
        let field = |path, text, name| {
            field_named(text, name).ok_or_else(|| FormatError::missing(path, name))
        };
        let id =
            |path, text| super::events::id(text).ok_or_else(|| FormatError::missing(path, "ID"));
        Ok(Self {
            enter: id(ENTER, enter)?,
            exit: id(EXIT, exit)?,
            entered: field(ENTER, enter, "id")?,
            arguments: field(ENTER, enter, "args[6]")?,
            left: field(EXIT, exit, "id")?,
            result: field(EXIT, exit, "ret")?,
        })
    }

    /// The kernel's filters of calls entered and calls left.
    pub fn filters() -> [String; 2] {
        let ids = |wanted: fn(&Shape) -> bool| {
            let ids = shapes().filter(|(_, shape)| wanted(shape));
            ids.map(|(id, _)| format!("id=={id}")).collect::<Vec<_>>().join("||")
        };
        let enter = ids(|shape| !matches!(shape, Shape::Open));
        let exit = ids(|shape| {
            use Shape::{Open, Seek, Splice, Write};
            matches!(shape, Write { .. } | Splice { .. } | Seek | Open)
        });
        [enter, exit]
    }

    /// Reads a sample; nothing if the call means nothing to us.
    pub fn decode(&self, body: &Body<'_>) -> Option<Call> {
        let Body { process, task, time_ns, id, raw } = *body;
        let process = process?;
        let shape_of = |field| {
            let call = libc::c_long::try_from(number(raw, field)?).ok()?;
            shapes().find(|(id, _)| *id == call).map(|(_, shape)| shape)
        };
        let step = if id == self.enter {
            self.entered(raw, shape_of(self.entered)?)?
        } else if id == self.exit {
            let result = number(raw, self.result)?.cast_signed();
            match shape_of(self.left)? {
                Shape::Open => Step::Opened { file: u32::try_from(result).ok()? },
                _ => Step::Returned(result),
            }
        } else {
            return None;
        };
        Some(Call { time_ns, process, task, step })
    }

    /// Whether this is the number of one of the two tracepoints.
    pub fn has(&self, id: u16) -> bool {
        id == self.enter || id == self.exit
    }

    fn entered(&self, raw: &[u8], shape: Shape) -> Option<Step> {
        let argument = |at: usize| {
            let bytes = self.arguments.bytes / 6;
            let offset = self.arguments.offset + at * bytes;
            number(raw, Field { offset, bytes })
        };
        // The kernel, too, looks at the low half of a descriptor only.
        let file = |at: usize| Some(low(argument(at)?));
        Some(match shape {
            Shape::Write { file: at, position } => {
                let position = position.map_or(Some(u64::MAX), argument)?;
                // `pwritev2` at -1 is a write where the descriptor stands.
                let position = Some(position).filter(|&position| position != u64::MAX);
                Step::Write { file: file(at)?, position }
            }
            Shape::Splice { file: at, pointer } if argument(pointer)? == 0 => {
                Step::Write { file: file(at)?, position: None }
            }
            Shape::Splice { .. } | Shape::Open => return None,
            Shape::Seek => Step::Seek { file: file(0)? },
            Shape::Close => Step::Gone { first: file(0)?, last: file(0)? },
            Shape::Replace => Step::Gone { first: file(1)?, last: file(1)? },
            Shape::CloseRange => Step::Gone { first: file(0)?, last: file(1)? },
            Shape::Over => Step::Gone { first: 0, last: u32::MAX },
        })
    }
}

fn low(argument: u64) -> u32 {
    u32::try_from(argument & u64::from(u32::MAX)).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::super::events::TaskIn;
    use super::*;
    use proptest::prelude::*;

    const COMMON: &str = "\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;
\tfield:long id;\toffset:8;\tsize:8;\tsigned:1;\n";

    fn calls() -> Calls {
        let enter =
            format!("ID: 21\n{COMMON}\tfield:unsigned long args[6];\toffset:16;\tsize:48;\n");
        let exit = format!("ID: 20\n{COMMON}\tfield:long ret;\toffset:16;\tsize:8;\n");
        Calls::parse(&enter, &exit).unwrap()
    }

    fn decode(body: &[u8]) -> Option<Call> {
        calls().decode(&Body::parse(body, TaskIn::Sample)?)
    }

    fn sample(tracepoint: u16, call: libc::c_long, words: &[i64]) -> Vec<u8> {
        let mut raw = vec![0; 8];
        raw[..2].copy_from_slice(&tracepoint.to_ne_bytes());
        raw.extend(call.to_ne_bytes());
        raw.extend(words.iter().flat_map(|word| word.to_ne_bytes()));
        let mut body = Vec::new();
        body.extend(10u32.to_ne_bytes());
        body.extend(11u32.to_ne_bytes());
        body.extend(99u64.to_ne_bytes());
        body.extend(u32::try_from(raw.len()).unwrap().to_ne_bytes());
        body.extend(raw);
        body
    }

    #[test]
    fn a_call_is_what_its_arguments_say() {
        let here = |file| Step::Write { file, position: None };
        let cases = [
            (21, libc::SYS_write, [3, 0, 9, 0, 0, 0], Some(here(3))),
            (
                21,
                libc::SYS_pwrite64,
                [3, 0, 9, 70, 0, 0],
                Some(Step::Write { file: 3, position: Some(70) }),
            ),
            (21, libc::SYS_pwritev2, [3, 0, 9, -1, 0, 0], Some(here(3))),
            (21, libc::SYS_sendfile, [4, 3, 0, 9, 0, 0], Some(here(4))),
            (21, libc::SYS_splice, [1, 0, 4, 0, 9, 0], Some(here(4))),
            (21, libc::SYS_splice, [1, 0, 4, 77, 9, 0], None),
            (21, libc::SYS_dup3, [4, 1, 0, 0, 0, 0], Some(Step::Gone { first: 1, last: 1 })),
            (21, libc::SYS_getpid, [0; 6], None),
            (20, libc::SYS_write, [-9, 0, 0, 0, 0, 0], Some(Step::Returned(-9))),
            (20, libc::SYS_openat, [5, 0, 0, 0, 0, 0], Some(Step::Opened { file: 5 })),
            (20, libc::SYS_openat, [-2, 0, 0, 0, 0, 0], None),
        ];
        for (tracepoint, call, words, want) in cases {
            let got = decode(&sample(tracepoint, call, &words));
            assert_eq!(got.map(|call| call.step), want, "{tracepoint} {call} {words:?}");
        }
    }

    proptest! {
        #[test]
        fn rubbish_is_no_call_and_no_panic(body: Vec<u8>, enter: String, cut in 0usize..60) {
            decode(&body);
            let whole = sample(21, libc::SYS_write, &[3, 0, 9, 0, 0, 0]);
            prop_assert_eq!(decode(&whole[..cut]), None);
            let _ = Calls::parse(&enter, &enter);
        }
    }
}
