//! The images: where they come from, how they are read, and how they are written back.

use std::path::Path;

use anyhow::{Result, bail};
use nbuf::experiment::image::{self, ImageError};
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
  0    success
  2    usage error
  125  images are missing or wrong, or the guest crashed or failed
  130  interrupted by Ctrl-C; prints what was measured so far";

const DRUM: (&str, usize, usize) = ("rf0.dsk", 988 * 512, 524_288);
const PACK: (&str, usize, usize) = ("rk0.dsk", 4864 * 512, 2_494_464);

/// Reads both.
pub(super) fn read(folder: &Path) -> Result<Images> {
    Ok(Images { drum: one(folder, DRUM)?, pack: one(folder, PACK)? })
}

fn one(folder: &Path, (name, least, most): (&str, usize, usize)) -> Result<Vec<u8>> {
    let path = folder.join(name);
    match image::read(&path, least..=most) {
        Err(ImageError::Refused(refused)) if refused.is_absent() => bail!(
            "there is no {}: build the images of Unix V1 first; `nbuf unix --help` says where they \
             come from, which licence they carry and what to type",
            path.display()
        ),
        read => Ok(read?),
    }
}

/// Puts images back over the files, whole or not at all; files that would not change are left.
pub(super) fn write_back(folder: &Path, images: &Images) -> Result<()> {
    for ((name, _, most), bytes) in [(DRUM, &images.drum), (PACK, &images.pack)] {
        image::write_back(&folder.join(name), bytes, most)?;
    }
    Ok(())
}
