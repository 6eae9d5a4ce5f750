//! Where files are in a process's memory: the lines of `/proc/PID/maps`.

use std::ops::Range;

use super::mounts::device_number;

/// A line with a file behind it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Area<'a> {
    /// Addresses.
    pub range: Range<u64>,
    /// Where in the file it begins, in bytes.
    pub offset: u64,
    /// On an overlay, the overlay's own device, and not the layer's.
    pub device: u32,
    pub inode: u64,
    /// Whether what is written there becomes a copy of the process's own.
    pub is_copied: bool,
    /// Whether it is the text of a program.
    pub is_text: bool,
    pub path: &'a str,
}

impl<'a> Area<'a> {
    /// `7f31c0000000-7f31c0026000 r--p 00000000 fe:00 1234       /usr/lib/libc.so.6`
    pub(super) fn parse(line: &'a str) -> Option<Self> {
        let mut words = line.splitn(6, ' ');
        let (start, end) = words.next()?.split_once('-')?;
        let hex = |text: &str| u64::from_str_radix(text, 16).ok();
        let range = hex(start)?..hex(end)?;
        let permissions = words.next()?.as_bytes();
        let is_copied = permissions.get(1) == Some(&b'w') && permissions.get(3) == Some(&b'p');
        let is_text = permissions.get(2) == Some(&b'x');
        let offset = words.next().and_then(hex)?;
        let (major, minor) = words.next()?.split_once(':')?;
        let number = |text: &str| u32::from_str_radix(text, 16).ok();
        let device = device_number(number(major)?, number(minor)?);
        let inode = words.next()?.parse().ok().filter(|&inode| inode != 0)?;
        let path = words.next()?.trim_start();
        Some(Self { range, offset, device, inode, is_copied, is_text, path })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn lines_with_files_are_areas() {
        let line = "7f31c0000000-7f31c0026000 rw-p 00002000 fe:01 1234        /a b (deleted)";
        let want = Area {
            range: 0x7f31_c000_0000..0x7f31_c002_6000,
            offset: 0x2000,
            device: 254 << 20 | 1,
            inode: 1234,
            is_copied: true,
            is_text: false,
            path: "/a b (deleted)",
        };
        assert_eq!(Area::parse(line), Some(want));
        let text = "1000-2000 r-xp 00000000 fe:01 7 /a";
        assert_eq!(Area::parse(text).map(|area| area.is_text), Some(true));
        let shared = "1000-2000 rw-s 00000000 fe:01 7 /a";
        assert_eq!(Area::parse(shared).map(|area| area.is_copied), Some(false));
        for line in ["7ffc000-7ffd000 rw-p 00000000 00:00 0      [stack]", "", "x-y r 0 0:0 1 /a"] {
            assert_eq!(Area::parse(line), None, "{line}");
        }
    }

    proptest! {
        #[test]
        fn rubbish_is_no_area_and_no_panic(line: String) {
            let _ = Area::parse(&line);
        }
    }
}
