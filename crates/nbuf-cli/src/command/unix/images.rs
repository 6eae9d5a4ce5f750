//! The images: where they come from, how they are read, and how they are written back.

use std::io::{self, Read, Write};
use std::path::Path;

use anyhow::{Context, Result, bail};
use nbuf::sys::publish::{Readers, Unfinished};
use nbuf::sys::{files, input};
use nbuf_pdp11::unix::guest::Images;

/// What to type without them.
pub(super) const WHERE: &str = "\
Images:
  rf0.dsk and rk0.dsk, the drum and the pack of Unix as of June 1972, are built by either of
    git clone https://github.com/jserv/unix-v1        (the fork, easier; then make -C unix-v1)
    git clone https://github.com/DoctorWkt/unix-jun72 (the restoration of 2009)
  as their README says; then
    nbuf unix boot --images unix-v1/images
  Unix V1 is under the Caldera licence of 2002, which lets you use and pass it on with its notice.

Exit status:
  0    it went as asked
  125  images are missing or not what they should be, or the guest crashed or did something else
  130  Ctrl-C ended it; what was measured by then is shown";

const DRUM: (&str, usize, usize) = ("rf0.dsk", 988 * 512, 524_288);
const PACK: (&str, usize, usize) = ("rk0.dsk", 4864 * 512, 2_494_464);

/// Reads both.
pub(super) fn read(folder: &Path) -> Result<Images> {
    Ok(Images { drum: one(folder, DRUM)?, pack: one(folder, PACK)? })
}

/// Puts bytes in the place of a file, which keeps its permissions.
fn put(path: &Path, bytes: &[u8]) -> io::Result<()> {
    // An image may be a link to where it is kept: what it leads to is replaced, not the link.
    let path = path.canonicalize()?;
    let permissions = files::regular(&path)?.metadata()?.permissions();
    let unfinished = Unfinished::create(&path, Readers::Owner)?;
    let mut file = unfinished.file();
    file.write_all(bytes)?;
    file.set_permissions(permissions)?;
    unfinished.replace()
}

fn one(folder: &Path, (name, least, most): (&str, usize, usize)) -> Result<Vec<u8>> {
    let path = folder.join(name);
    let file = match input::open(&path) {
        Ok(file) => file,
        Err(refused) if refused.is_absent() => bail!(
            "there is no {}: build the images of Unix V1 first; `nbuf unix --help` says where they \
             come from, which licence they carry and what to type",
            path.display()
        ),
        Err(refused) => return Err(refused.into()),
    };
    // More than an image has is not read: it may never end.
    let mut bytes = Vec::new();
    let most = file.take(most as u64 + 1).read_to_end(&mut bytes).map(|_| most);
    let most = most.with_context(|| format!("cannot read {}", path.display()))?;
    if !(least..=most).contains(&bytes.len()) {
        bail!(
            "{} has {} bytes, an image has {least} to {most}: build it again, or give another folder \
             with --images",
            path.display(),
            if bytes.len() > most { "more".to_owned() } else { bytes.len().to_string() }
        );
    }
    Ok(bytes)
}

/// Puts images back over the files, whole or not at all; files that would not change are left.
pub(super) fn write_back(folder: &Path, images: &Images) -> Result<()> {
    for ((name, _, most), bytes) in [(DRUM, &images.drum), (PACK, &images.pack)] {
        let path = folder.join(name);
        let cannot = || format!("cannot write {} back; it is as it was", path.display());
        let old = one(folder, (name, 0, most)).with_context(cannot)?;
        // What is behind the old end and still zero needs no room.
        let used = bytes.iter().rposition(|&byte| byte != 0).map_or(0, |last| last + 1);
        let length = old.len().max(used.div_ceil(512) * 512).min(bytes.len());
        if old == bytes[..length] {
            continue;
        }
        put(&path, &bytes[..length]).with_context(cannot)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use super::*;

    fn images(byte: u8) -> Images {
        Images { drum: vec![byte; DRUM.2], pack: vec![byte; PACK.2] }
    }

    fn folder() -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        let Images { drum, pack } = images(1);
        fs::write(folder.path().join(DRUM.0), drum).unwrap();
        fs::write(folder.path().join(PACK.0), pack).unwrap();
        folder
    }

    #[test]
    fn images_are_written_back_through_no_link() {
        let folder = folder();
        let at = |name: &str| folder.path().join(name);
        fs::write(at("others"), "theirs").unwrap();
        symlink(at("others"), at("rf0.dsk.new")).unwrap();
        write_back(folder.path(), &images(2)).unwrap();
        assert_eq!(fs::read_to_string(at("others")).unwrap(), "theirs");
        assert!(read(folder.path()).unwrap().drum == images(2).drum);
        let mut names: Vec<_> =
            fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        names.sort();
        assert_eq!(names, ["others", "rf0.dsk", "rf0.dsk.new", "rk0.dsk"]);
    }

    #[test]
    fn an_image_is_a_file_of_the_right_size() {
        let folder = folder();
        let drum = folder.path().join(DRUM.0);
        let said = || read(folder.path()).err().unwrap().to_string();
        fs::remove_file(&drum).unwrap();
        assert!(said().starts_with("there is no "));
        symlink("/dev/zero", &drum).unwrap();
        assert!(said().contains("is a character device"));
        fs::remove_file(&drum).unwrap();
        fs::File::create(&drum).unwrap().set_len(1 << 40).unwrap();
        assert!(said().contains("has more bytes"));
    }
}
