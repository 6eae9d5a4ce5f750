//! The images in a folder: read, and written back.

use std::path::{Path, PathBuf};

use nbuf::experiment::image::{self, ImageError};

use super::guest::Images;

/// The file of the drum, and the least and the most bytes that it has.
const DRUM: (&str, usize, usize) = (DRUM_FILE, 988 * 512, 524_288);
/// The same for the pack.
const PACK: (&str, usize, usize) = ("rk0.dsk", 4864 * 512, 2_494_464);

/// The name of the drum's file in a folder of images.
pub const DRUM_FILE: &str = "rf0.dsk";

/// Why there are no images, or why they stay as they were.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ImagesError {
    /// The folder does not have this file.
    #[error(
        "there is no {}: build the images of Unix V1 first; `nbuf unix --help` says where they \
         come from, which licence they carry and what to type",
        .0.display()
    )]
    Absent(PathBuf),
    /// A file is no image, or cannot be written.
    #[error(transparent)]
    Image(#[from] ImageError),
}

/// Reads both.
pub fn read(folder: &Path) -> Result<Images, ImagesError> {
    Ok(Images { drum: one(folder, DRUM)?, pack: one(folder, PACK)? })
}

fn one(folder: &Path, (name, least, most): (&str, usize, usize)) -> Result<Vec<u8>, ImagesError> {
    let path = folder.join(name);
    match image::read(&path, least..=most) {
        Err(ImageError::Refused(refused)) if refused.is_absent() => Err(ImagesError::Absent(path)),
        read => Ok(read?),
    }
}

/// Puts images back over the files, whole or not at all; files that would not change are left.
pub fn write_back(folder: &Path, images: &Images) -> Result<(), ImagesError> {
    for ((name, _, most), bytes) in [(DRUM, &images.drum), (PACK, &images.pack)] {
        image::write_back(&folder.join(name), bytes, most)?;
    }
    Ok(())
}
