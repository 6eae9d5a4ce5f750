//! Names of functions: from a file's symbols and debug information, and from the kernel's list.
//!
//! Files are opened with the caller's rights, and read whole. A file that is not the one that was mapped gives no
//! names.
//! Cost: each file is read once, whole.

use std::borrow::Cow;
use std::fs;
use std::io::{self, Read};
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use addr2line::gimli::{self, EndianSlice, RunTimeEndian};
use object::{
    CompressionFormat, Object as _, ObjectSection as _, ObjectSegment as _, ObjectSymbol as _,
    SymbolKind,
};

use crate::sys::files;
use crate::workload::observe::profile::kernel;

/// Larger files give no names.
const FILE_BYTES_MAX: u64 = 1 << 30;

type Reader<'a> = EndianSlice<'a, RunTimeEndian>;

/// Addresses and names, in order.
#[derive(Debug, Default)]
pub(super) struct Table<'a> {
    /// The first address, the end where it is known, and the name.
    symbols: Vec<(u64, u64, &'a str)>,
}

impl<'a> Table<'a> {
    pub(super) fn of(mut symbols: Vec<(u64, u64, &'a str)>) -> Self {
        // If several have one address, the one that covers the most stays.
        symbols.sort_by(|a, b| (a.0, b.1).cmp(&(b.0, a.1)));
        symbols.dedup_by_key(|symbol| symbol.0);
        Self { symbols }
    }

    pub(super) fn find(&self, address: u64) -> Option<&'a str> {
        let after = self.symbols.partition_point(|symbol| symbol.0 <= address);
        let &(_, end, name) = self.symbols.get(after.checked_sub(1)?)?;
        (end == 0 || address < end).then_some(name)
    }
}

/// The functions at each of these offsets of the file, innermost first; none where there is no name.
///
/// # Errors
/// In words: why the file gives no names.
pub(super) fn of_file(
    path: &str,
    inode: u64,
    began_unix_seconds: i64,
    offsets: &[u64],
) -> Result<Vec<Vec<String>>, String> {
    let bytes = read(path, inode, began_unix_seconds)?;
    let file = object::File::parse(&*bytes).map_err(|_| "it is no ELF file".to_owned())?;
    let symbols = file.symbols().chain(file.dynamic_symbols());
    let functions = symbols.filter(|symbol| {
        symbol.is_definition() && symbol.kind() == SymbolKind::Text && symbol.address() != 0
    });
    let table = Table::of(
        functions
            .filter_map(|symbol| {
                let (start, bytes) = (symbol.address(), symbol.size());
                let end = if bytes == 0 { 0 } else { start.saturating_add(bytes) };
                Some((start, end, symbol.name().ok()?))
            })
            .collect(),
    );
    let debug = debug(&file);
    let named = offsets.iter().map(|&offset| {
        let address = file.segments().find_map(|segment| {
            let (begins, bytes) = segment.file_range();
            let into = offset.checked_sub(begins).filter(|&into| into < bytes)?;
            segment.address().checked_add(into)
        });
        let Some(address) = address else { return Vec::new() };
        let inlined = debug.as_ref().map(|debug| frames(debug, address)).unwrap_or_default();
        if !inlined.is_empty() {
            return inlined;
        }
        table.find(address).map(demangled).into_iter().collect()
    });
    Ok(named.collect())
}

fn read(path: &str, inode: u64, began_unix_seconds: i64) -> Result<Vec<u8>, String> {
    let gone = |error: io::Error| match error.kind() {
        io::ErrorKind::NotFound => "its file is gone".to_owned(),
        _ => format!("its file cannot be read: {error}"),
    };
    let mut file = files::regular(Path::new(path)).map_err(gone)?;
    let metadata = file.metadata().map_err(gone)?;
    if metadata.ino() != inode {
        return Err("another file has its name now".to_owned());
    }
    if metadata.mtime() > began_unix_seconds {
        return Err("its file was changed since the command began".to_owned());
    }
    if metadata.len() > FILE_BYTES_MAX {
        return Err("its file is larger than 1 GiB".to_owned());
    }
    let mut bytes = Vec::new();
    file.read_to_end(&mut bytes).map_err(gone)?;
    Ok(bytes)
}

/// The debug information, if the file has any.
fn debug<'a>(file: &object::File<'a>) -> Option<addr2line::Context<Reader<'a>>> {
    file.section_by_name(".debug_info")?;
    let endian = if file.is_little_endian() { RunTimeEndian::Little } else { RunTimeEndian::Big };
    let load = |id: gimli::SectionId| -> Result<Reader<'a>, gimli::Error> {
        let section = file.section_by_name(id.name());
        let data = section.and_then(|section| section.compressed_data().ok());
        let plain = data.filter(|data| data.format == CompressionFormat::None);
        Ok(EndianSlice::new(plain.map_or(&[][..], |data| data.data), endian))
    };
    let dwarf = gimli::Dwarf::load(load).ok()?;
    addr2line::Context::from_dwarf(dwarf).ok()
}

/// The function at an address, and those that have inlined it.
fn frames(debug: &addr2line::Context<Reader<'_>>, address: u64) -> Vec<String> {
    let Ok(mut frames) = debug.find_frames(address).skip_all_loads() else { return Vec::new() };
    let mut names = Vec::new();
    while let Ok(Some(frame)) = frames.next() {
        let Some(function) = frame.function else { break };
        let Ok(name) = function.raw_name() else { break };
        names.push(demangled(&name));
    }
    names
}

fn demangled(name: &str) -> String {
    addr2line::demangle_auto(Cow::Borrowed(name), None).into_owned()
}

/// The kernel's functions at these addresses; none where we may not know them. Without the right to ask the
/// kernel, its list is read, which takes it 0.1 s to print.
pub(super) fn of_kernel(addresses: &[u64]) -> Vec<Option<String>> {
    if let Ok(names) = kernel::names(addresses) {
        return names;
    }
    let text = fs::read("/proc/kallsyms").unwrap_or_default();
    let table = Table::of(text.split(|&byte| byte == b'\n').filter_map(symbol).collect());
    addresses.iter().map(|&address| table.find(address).map(str::to_owned)).collect()
}

/// `ffffffff81000000 T _stext`, with the module behind a tab. Without the right, all addresses are zero.
fn symbol(line: &[u8]) -> Option<(u64, u64, &str)> {
    let line = std::str::from_utf8(line).ok()?;
    let mut words = line.split([' ', '\t']);
    let address = u64::from_str_radix(words.next()?, 16).ok().filter(|&address| address != 0)?;
    let is_code = matches!(words.next()?, "t" | "T" | "w" | "W");
    is_code.then_some((address, 0, words.next()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_symbol_before_an_address_is_its_own() {
        let table = Table::of(vec![(30, 0, "c"), (10, 20, "a"), (10, 12, "short")]);
        let found = [9, 10, 19, 20, 30, 99].map(|address| table.find(address));
        assert_eq!(found, [None, Some("a"), Some("a"), None, Some("c"), Some("c")]);
    }

    #[test]
    fn lines_of_the_kernel_are_symbols_if_they_have_an_address() {
        assert_eq!(symbol(b"ffff81 T do_it\t[ext4]"), Some((0x00ff_ff81, 0, "do_it")));
        let none: [&[u8]; 5] = [b"0 T do_it", b"ffff81 d data", b"", b"x y z", b"\xff"];
        assert!(none.into_iter().all(|line| symbol(line).is_none()));
    }

    #[test]
    fn a_file_that_is_another_now_gives_no_names() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("x");
        let name = path.to_str().unwrap();
        assert_eq!(of_file(name, 1, 0, &[]).unwrap_err(), "its file is gone");
        fs::write(&path, "text").unwrap();
        let inode = fs::metadata(&path).unwrap().ino();
        let of = |inode, began| of_file(name, inode, began, &[1]).unwrap_err();
        assert_eq!(of(inode + 1, i64::MAX), "another file has its name now");
        assert_eq!(of(inode, 0), "its file was changed since the command began");
        assert_eq!(of(inode, i64::MAX), "it is no ELF file");
    }

    #[test]
    fn names_are_demangled() {
        assert_eq!(demangled("_ZN3foo3barEv"), "foo::bar()");
        assert_eq!(demangled("main"), "main");
    }
}
