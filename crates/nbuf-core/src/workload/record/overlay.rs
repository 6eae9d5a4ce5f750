//! overlayfs: which file of which layer stands behind a path of the merged tree.
//!
//! Events are about the file of the layer, on the layer's device; people know the merged path. A
//! layer's file is opened through a mount of the overlay's own, so that its path leads nowhere.
//! Invariant: a merged path is only given to the file that is found at that place of the first
//! layer that has one. Layers that cannot be reached from here, as those of another mount
//! namespace, give no names.

use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use rustix::fs::{FileType, Mode, OFlags, ResolveFlags, Stat, fstat, openat2};

use super::key::key_of;
use super::mounts::{self, Mount, device_number};
use super::names::Key;

/// The overlays that are mounted here.
#[derive(Debug, Default)]
pub(super) struct Overlays {
    all: Vec<Overlay>,
    /// Numbers of all mounts: a file that is open through another one has no path.
    mounts: Vec<u64>,
}

#[derive(Debug, PartialEq, Eq)]
struct Overlay {
    device: u32,
    point: PathBuf,
    /// The uppermost first.
    layers: Vec<PathBuf>,
}

impl Overlays {
    /// Those of `/proc/self/mountinfo`.
    pub(super) fn mounted() -> Self {
        Self::parse(&fs::read_to_string("/proc/self/mountinfo").unwrap_or_default())
    }

    fn parse(text: &str) -> Self {
        let number = |line: &str| line.split(' ').next()?.parse().ok();
        let mounts = text.lines().filter_map(number).collect();
        Self { all: text.lines().filter_map(parse_line).collect(), mounts }
    }

    /// Whether there is none.
    pub(super) fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    /// Whether this is the device of an overlay: of paths, not of pages.
    pub(super) fn has_device(&self, device: u32) -> bool {
        self.all.iter().any(|overlay| overlay.device == device)
    }

    /// Whether a file that is open through the mount with this number has a path that leads to it.
    pub(super) fn reaches(&mut self, mount: u64) -> bool {
        if !self.mounts.contains(&mount) {
            // Mounted since, or nowhere.
            let now = Self::mounted();
            self.mounts.extend(now.mounts);
        }
        self.mounts.contains(&mount)
    }

    /// The file behind a path of an overlay.
    pub(super) fn behind(&self, device: u32, path: &[u8]) -> Option<Key> {
        let path = Path::new(std::ffi::OsStr::from_bytes(path));
        let of_device = self.all.iter().filter(|overlay| overlay.device == device);
        let inside = of_device
            .filter_map(|overlay| Some((overlay, path.strip_prefix(&overlay.point).ok()?)));
        let (overlay, rest) = inside.min_by_key(|(_, rest)| rest.as_os_str().len())?;
        let file = |layer: &PathBuf| inside_of(layer, rest);
        // What is no file up there hides the file below.
        let file = overlay.layers.iter().find_map(file)?;
        let kind = FileType::from_raw_mode(file.st_mode);
        (kind == FileType::RegularFile).then(|| key_of(&file))
    }
}

/// What stands at a path in a layer: looked at, not opened, and by no link and in no other file system,
/// whatever others may have put there.
fn inside_of(layer: &Path, rest: &Path) -> Option<Stat> {
    let flags = OFlags::PATH | OFlags::CLOEXEC;
    let layer = rustix::fs::open(layer, flags, Mode::empty()).ok()?;
    let within = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_XDEV;
    // The last part may be a link: it hides what is below as any other file.
    let file = openat2(&layer, rest, flags | OFlags::NOFOLLOW, Mode::empty(), within).ok()?;
    fstat(&file).ok()
}

fn parse_line(line: &str) -> Option<Overlay> {
    let (left, right) = line.split_once(" - overlay ")?;
    let mut left = left.split(' ');
    let (major, minor) = left.nth(2)?.split_once(':')?;
    let device = device_number(major.parse().ok()?, minor.parse().ok()?);
    let point = PathBuf::from(mounts::unescape(left.nth(1)?));
    let layers = layers(right.split_once(' ')?.1);
    // A path that begins nowhere was meant from where its mounter stood.
    let whole = layers.iter().all(|layer| layer.is_absolute());
    whole.then_some(Overlay { device, point, layers })
}

/// Whether a path is on an overlay of which no layer can be reached from here, as in most containers:
/// tracepoints are about files of the layers, which then have no names.
pub fn without_layers(path: &Path) -> bool {
    let mounts = mounts::all();
    let there = mounts.iter().filter(|mount| path.starts_with(&mount.point));
    let there = there.max_by_key(|mount| mount.point.as_os_str().len());
    there.is_some_and(|mount| {
        let is_there = |layer: PathBuf| layer.is_absolute() && layer.exists();
        mount.filesystem == "overlay" && !layers(&mount.options).into_iter().any(is_there)
    })
}

/// The device that the layers of an overlay lie on, by its `options`: the one of the first layer that can
/// be reached from here. In a container none can; then, if the files there are all of one block device,
/// such as those that the engine puts into `/etc`, it is taken to be that one.
pub(super) fn device_below(options: &str, others: &[Mount]) -> Option<u32> {
    let reached = |layer: PathBuf| layer.is_absolute().then(|| fs::metadata(layer).ok()).flatten();
    if let Some(layer) = layers(options).into_iter().find_map(reached) {
        let (major, minor) = (rustix::fs::major(layer.dev()), rustix::fs::minor(layer.dev()));
        return Some(device_number(major, minor));
    }
    let mut on_block_devices = others.iter().map(|m| m.device).filter(|device| device >> 20 != 0);
    let first = on_block_devices.next()?;
    on_block_devices.all(|device| device == first).then_some(first)
}

/// The layers that an overlay was mounted with, the uppermost first.
fn layers(options: &str) -> Vec<PathBuf> {
    let mut layers = Vec::new();
    for (name, value) in options.split(',').filter_map(|option| option.split_once('=')) {
        let value = mounts::unescape(value);
        match name {
            "upperdir" => layers.insert(0, PathBuf::from(value)),
            "lowerdir" => layers.extend(std::env::split_paths(&value)),
            "lowerdir+" => layers.push(PathBuf::from(value)),
            _ => {}
        }
    }
    layers
}

#[cfg(test)]
mod tests {
    use super::*;

    const LINE: &str = "40 22 0:39 / /m\\040x rw,relatime - overlay overlay \
        rw,lowerdir=/l1:/l2,upperdir=/u,workdir=/w";

    #[test]
    fn layers_are_read_from_the_top() {
        let overlays = Overlays::parse(LINE);
        let layers = ["/u", "/l1", "/l2"].map(PathBuf::from).to_vec();
        assert_eq!(overlays.all, [Overlay { device: 39, point: "/m x".into(), layers }]);
        assert_eq!(overlays.mounts, [40]);
        for odd in ["lowerdir=/l1:l2", "rw,lowerdir=l", "nonsense"] {
            let line = LINE.replace("rw,lowerdir=/l1:/l2,upperdir=/u,workdir=/w", odd);
            let none = Overlays::parse(&line).all.iter().all(|found| found.layers.is_empty());
            assert!(none, "{odd}");
        }
    }

    #[test]
    fn the_uppermost_layer_that_has_it_counts() {
        let place = tempfile::tempdir().unwrap();
        let layers: Vec<_> = ["u", "l"].map(|name| place.path().join(name)).to_vec();
        for layer in &layers {
            fs::create_dir(layer).unwrap();
        }
        fs::write(layers[1].join("low"), "").unwrap();
        fs::write(layers[1].join("both"), "").unwrap();
        fs::write(layers[0].join("both"), "").unwrap();
        fs::create_dir(layers[0].join("hidden")).unwrap();
        fs::write(layers[1].join("hidden"), "").unwrap();
        let inode = |at: usize, name: &str| fs::metadata(layers[at].join(name)).unwrap().ino();
        let want = [Some(inode(1, "low")), Some(inode(0, "both")), None, None];
        let overlay = Overlay { device: 39, point: "/m".into(), layers: layers.clone() };
        let overlays = Overlays { all: vec![overlay], mounts: Vec::new() };
        let got = ["/m/low", "/m/both", "/m/hidden", "/n/low"]
            .map(|path| overlays.behind(39, path.as_bytes()).map(|(_, inode)| inode));
        assert_eq!(got, want);
        assert_eq!(overlays.behind(40, b"/m/low"), None);
    }
}
