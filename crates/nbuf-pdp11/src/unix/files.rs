//! Reads the file system of First Edition Unix from an image.
//!
//! Blocks have 512 bytes. I-nodes have 32 bytes, from block 2 on, and the root is number 41. A
//! directory entry has ten bytes: a number and eight letters. Source: *UNIX Programmer's Manual*,
//! First Edition (1971), file system (V). It never writes.

const BLOCK_BYTES: usize = 512;
const ROOT: u16 = 41;
const USED: u16 = 0o100_000;
const DIRECTORY: u16 = 0o040_000;
const LARGE: u16 = 0o010_000;

/// The contents of a file, by its path from the root of the image; `None` if it does not exist.
pub fn read(image: &[u8], path: &str) -> Option<Vec<u8>> {
    let mut number = ROOT;
    for name in path.split('/').filter(|name| !name.is_empty()) {
        let (flags, directory) = contents(image, number)?;
        if flags & DIRECTORY == 0 {
            return None;
        }
        number = directory.chunks_exact(10).find_map(|entry| {
            let end = entry[2..].iter().position(|&byte| byte == 0).unwrap_or(8);
            let number = u16::from_le_bytes([entry[0], entry[1]]);
            (number != 0 && &entry[2..2 + end] == name.as_bytes()).then_some(number)
        })?;
    }
    Some(contents(image, number)?.1)
}

/// The flags and bytes of an i-node in use.
fn contents(image: &[u8], number: u16) -> Option<(u16, Vec<u8>)> {
    let at = 32 * (usize::from(number) + 31);
    let node = image.get(at..at + 32)?;
    let word = |at: usize| u16::from_le_bytes([node[at], node[at + 1]]);
    let flags = word(0);
    if flags & USED == 0 {
        return None;
    }
    let size = usize::from(word(4));
    let mut bytes = Vec::new();
    for index in 0..size.div_ceil(BLOCK_BYTES) {
        let block = if flags & LARGE == 0 {
            (index < 8).then(|| word(6 + 2 * index))?
        } else {
            let indirect = block(image, word(6 + 2 * (index / 256).min(7)))?;
            let at = index % 256 * 2;
            u16::from_le_bytes([indirect[at], indirect[at + 1]])
        };
        bytes.extend_from_slice(self::block(image, block)?);
    }
    bytes.truncate(size);
    Some((flags, bytes))
}

/// The contents of a block. Number 0 is a block that was never written, and is all zeros.
fn block(image: &[u8], number: u16) -> Option<&[u8]> {
    if number == 0 {
        return Some(&[0; BLOCK_BYTES]);
    }
    let at = usize::from(number) * BLOCK_BYTES;
    image.get(at..at + BLOCK_BYTES)
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::*;

    fn node(image: &mut [u8], number: u16, flags: u16, size: u16, blocks: &[u16]) {
        let at = 32 * (usize::from(number) + 31);
        image[at..at + 2].copy_from_slice(&flags.to_le_bytes());
        image[at + 4..at + 6].copy_from_slice(&size.to_le_bytes());
        for (index, block) in blocks.iter().enumerate() {
            let at = at + 6 + 2 * index;
            image[at..at + 2].copy_from_slice(&block.to_le_bytes());
        }
    }

    #[test]
    fn files_are_found_by_path_small_and_large() {
        let mut image = vec![0; 40 * BLOCK_BYTES];
        node(&mut image, ROOT, USED | DIRECTORY, 20, &[10]);
        image[5120..5130].copy_from_slice(&[42, 0, b'n', b'b', b'u', b'f', b'.', b'6', 0, 0]);
        image[5130..5140].copy_from_slice(&[43, 0, b'e', b'i', b'g', b'h', b't', b'c', b'h', b'r']);
        node(&mut image, 42, USED, 3, &[11]);
        image[5632..5635].copy_from_slice(b"abc");
        node(&mut image, 43, USED | LARGE, 514, &[12]);
        image[6144..6148].copy_from_slice(&[13, 0, 14, 0]);
        image[14 * 512 + 1] = 7;
        assert_eq!(read(&image, "/nbuf.6").as_deref(), Some(b"abc".as_slice()));
        let large = read(&image, "eightchr").unwrap();
        assert_eq!((large.len(), large[513]), (514, 7));
        // A hole must not read the first block of the image.
        image[..512].fill(9);
        image[6144] = 0;
        assert_eq!(read(&image, "eightchr").unwrap()[..512], [0; 512]);
        assert_eq!((read(&image, "none"), read(&image, "nbuf.6/x")), (None, None));
    }

    proptest! {
        #[test]
        fn no_image_panics(image in vec(any::<u8>(), 0..8192), flags: u16) {
            let mut image = image;
            if image.len() > 32 * 73 {
                node(&mut image, ROOT, flags, 600, &[3, 60_000]);
            }
            let _ = (read(&image, "a/b"), read(&image, "/"));
        }
    }
}
