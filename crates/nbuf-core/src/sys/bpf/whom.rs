//! Whom programs look at: processes that were marked, and control groups of the unified hierarchy; and what they
//! have seen.

use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};

use super::{Attributes, MAP_CREATE, MAP_UPDATE_ELEMENT, NAME_OF_MAP, owned};

const BTF_LOAD: libc::c_int = 18;
const MAP_TYPE_HASH: u32 = 1;
const MAP_TYPE_GROUPS: u32 = 8;
const MAP_TYPE_TASK_STORAGE: u32 = 29;
const NO_PREALLOCATION: u32 = 1;
/// The kind of an array in a description of types.
const ARRAY: u32 = 3;

/// Words of a mark. The first says what it is; the others are the programs' own.
const MARK_WORDS: usize = MARK_BYTES as usize / 8;
const MARK_BYTES: u32 = 40;

/// Marks on threads. The kernel removes a mark with its thread, so that another one with the same number has none.
#[derive(Debug)]
pub(crate) struct Marks(OwnedFd);

impl Marks {
    /// No marks.
    ///
    /// # Errors
    /// `EPERM` without `CAP_BPF` or root; `EINVAL` on kernels before 5.11.
    pub(crate) fn none() -> io::Result<Self> {
        let described = described();
        let size = u32::try_from(described.len()).map_err(|_| io::ErrorKind::InvalidInput)?;
        let types = Attributes::of(&[(16, size)]).address(0, described.as_ptr());
        let types = owned(types.call(BTF_LOAD)?)?;
        let number = types.as_raw_fd().cast_unsigned();
        let fields = [(0, MAP_TYPE_TASK_STORAGE), (4, 4), (8, MARK_BYTES), (16, NO_PREALLOCATION)];
        let described = [(48, number), (52, 1), (56, 3), NAME_OF_MAP];
        let all = [&fields[..], &described[..]].concat();
        Ok(Self(owned(Attributes::of(&all).call(MAP_CREATE)?)?))
    }

    /// By what programs name it.
    pub(crate) fn number(&self) -> i32 {
        self.0.as_raw_fd()
    }

    /// Marks the thread of this descriptor (`pidfd_open`): of a process, the first.
    ///
    /// # Errors
    /// `ESRCH` if it has ended.
    pub(crate) fn add(&self, process: BorrowedFd<'_>) -> io::Result<()> {
        let mut mark = [0_u64; MARK_WORDS];
        mark[0] = 1;
        update(&self.0, process.as_raw_fd(), &mark)
    }
}

/// One control group of the unified hierarchy.
#[derive(Debug)]
pub(crate) struct Groups(OwnedFd);

impl Groups {
    /// The group of this directory.
    ///
    /// # Errors
    /// `EBADF` if it is no group of the unified hierarchy.
    pub(crate) fn of(directory: impl AsFd) -> io::Result<Self> {
        let fields = [(0, MAP_TYPE_GROUPS), (4, 4), (8, 4), (12, 1), NAME_OF_MAP];
        let this = Self(owned(Attributes::of(&fields).call(MAP_CREATE)?)?);
        update(&this.0, 0, &directory.as_fd().as_raw_fd())?;
        Ok(this)
    }

    /// By what programs name it.
    pub(crate) fn number(&self) -> i32 {
        self.0.as_raw_fd()
    }
}

fn update<T>(map: &OwnedFd, key: i32, value: &T) -> io::Result<()> {
    let element =
        Attributes::of(&[(0, map.as_raw_fd().cast_unsigned())]).address(8, &raw const key);
    element.address(16, value).call(MAP_UPDATE_ELEMENT).map(drop)
}

/// The types of key and value, as the kernel wants them for marks: a number of four bytes, and some of eight.
fn described() -> Vec<u8> {
    let strings = b"\0int\0long\0";
    let numbers = [[1, 1 << 24, 4, 32], [5, 1 << 24, 8, 64]].concat();
    let several = [0, ARRAY << 24, 0, 2, 1, MARK_BYTES / 8];
    let types: Vec<u32> = numbers.into_iter().chain(several).collect();
    let types_bytes = 4 * (4 * 2 + 6);
    let mut bytes = 0xeb9f_u16.to_ne_bytes().to_vec();
    bytes.extend([1, 0]);
    let header = [24, 0, types_bytes, types_bytes, 10_u32];
    bytes.extend(header.into_iter().chain(types).flat_map(u32::to_ne_bytes));
    bytes.extend(strings);
    bytes
}

/// Numbers that programs have seen: a set of pairs of eight bytes each.
#[derive(Debug)]
pub(crate) struct Pairs(OwnedFd);

impl Pairs {
    /// None yet, and at most this number of them.
    ///
    /// # Errors
    /// `EPERM` without `CAP_BPF` or root.
    pub(crate) fn at_most(count: u32) -> io::Result<Self> {
        let fields = [(0, MAP_TYPE_HASH), (4, 16), (8, 8), (12, count), (16, NO_PREALLOCATION)];
        let all = [&fields[..], &[NAME_OF_MAP]].concat();
        Ok(Self(owned(Attributes::of(&all).call(MAP_CREATE)?)?))
    }

    /// By what programs name it.
    pub(crate) fn number(&self) -> i32 {
        self.0.as_raw_fd()
    }
}
