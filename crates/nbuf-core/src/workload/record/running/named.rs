//! Services by the names that people give them: a container, a unit of systemd, a pod. No daemon is asked.
//!
//! Every engine writes the number of a container into the name of its cgroup; the files of docker and podman say
//! which number a name has, and the logs of Kubernetes which number a pod has.
//! Sources: systemd's `CGROUP_DELEGATION.md`, runc's `libcontainer/cgroups`, Kubernetes' `pkg/kubelet/cm`.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::sys::cgroup::memory_mount;

/// A service by its name.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Named {
    /// A container of docker, podman, containerd or LXC: its name, or 12 digits or more of its number.
    Container(String),
    /// A unit of systemd; without a suffix a service.
    Unit(String),
    /// A pod of Kubernetes: NAME, NAMESPACE/NAME, or its number.
    Pod(String),
}

/// Why a name is not one cgroup.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// No hierarchy of groups is mounted.
    #[error("no cgroup hierarchy with memory is mounted here; give --pid")]
    NoHierarchy,
    /// Nothing that runs has this name.
    #[error(
        "no {what} `{name}` runs here; {remedy}, or give the directory of its cgroup with --cgroup"
    )]
    NotFound {
        /// A container, a unit or a pod.
        what: &'static str,
        /// The name.
        name: String,
        /// Where to look.
        remedy: &'static str,
    },
    /// No group matches a pattern.
    #[error("no cgroup matches `{pattern}`: {}", offered(.place, .near))]
    NoMatch {
        /// The pattern.
        pattern: String,
        /// The directory where nothing matched.
        place: PathBuf,
        /// Names there, the most alike first.
        near: Vec<String>,
    },
    /// Several have it.
    #[error("`{name}` names {} cgroups; give one of them with --cgroup:{}", .found.len(), listed(.found))]
    Several {
        /// The name.
        name: String,
        /// The directories.
        found: Vec<PathBuf>,
    },
}

fn listed(found: &[PathBuf]) -> String {
    found.iter().fold(String::new(), |all, path| all + "\n  " + &path.to_string_lossy())
}

fn offered(place: &Path, near: &[String]) -> String {
    let (is_there, place) = (place.is_dir(), place.display());
    match near {
        [] if !is_there => {
            format!("{place} cannot be read; `systemd-cgls` lists the groups")
        }
        [] => format!("there is no group below {place}"),
        near => format!("in {place} there are {}; write one of them", near.join(", ")),
    }
}

impl Named {
    /// The directory of its cgroup.
    ///
    /// # Errors
    /// If none, or several, have the name.
    pub fn cgroup(&self) -> Result<PathBuf, Error> {
        self.find(&memory_mount().ok_or(Error::NoHierarchy)?, Path::new("/"))
    }

    /// The same below this mount, by the files below this root.
    fn find(&self, mount: &Path, root: &Path) -> Result<PathBuf, Error> {
        let numbers = match self {
            Self::Container(name) => container_numbers(root, name),
            Self::Pod(name) => pod_numbers(root, name),
            Self::Unit(_) => BTreeSet::new(),
        };
        let mut found = Vec::new();
        walk(mount, &mut |directory, name| {
            let is_it = self.is_at(directory, name, &numbers);
            if is_it {
                found.push(directory.to_owned());
            }
            // What is inside belongs to it.
            !is_it
        });
        found.sort();
        match found.len() {
            1 => Ok(found.swap_remove(0)),
            0 => Err(self.not_found()),
            _ => Err(Error::Several { name: self.name().to_owned(), found }),
        }
    }

    /// The name.
    pub fn name(&self) -> &str {
        let (Self::Container(name) | Self::Unit(name) | Self::Pod(name)) = self;
        name
    }

    fn not_found(&self) -> Error {
        let (what, remedy) = match self {
            Self::Container(_) => {
                ("container", "give its number, as `docker ps` or `podman ps` lists it")
            }
            Self::Unit(_) => ("unit", "`systemctl list-units` lists them"),
            Self::Pod(_) => {
                ("pod", "`kubectl get pod NAME -o jsonpath={.metadata.uid}` prints its number")
            }
        };
        Error::NotFound { what, name: self.name().to_owned(), remedy }
    }

    /// Whether the group of this name is the service's.
    fn is_at(&self, directory: &Path, group: &str, numbers: &BTreeSet<String>) -> bool {
        match self {
            Self::Unit(unit) => {
                let has_suffix =
                    [".service", ".scope", ".slice"].iter().any(|end| unit.ends_with(end));
                group == unit || !has_suffix && group.strip_suffix(".service") == Some(unit)
            }
            Self::Container(name) => {
                let in_lxc = directory.parent().is_some_and(|parent| parent.ends_with("lxc"));
                let of_lxc =
                    group.strip_prefix("lxc.payload.") == Some(name) || in_lxc && group == name;
                let number = container_of(group);
                of_lxc
                    || number.is_some_and(|it| numbers.iter().any(|number| it.starts_with(number)))
            }
            Self::Pod(_) => pod_of(group).is_some_and(|number| numbers.contains(&number)),
        }
    }
}

/// The number in the name of a container's group: `docker-NUMBER.scope`, `libpod-NUMBER`, `NUMBER`. None in the
/// groups of what looks after one.
fn container_of(group: &str) -> Option<&str> {
    let group = group.strip_suffix(".scope").unwrap_or(group);
    let (engine, number) = group.rsplit_once('-').unwrap_or(("", group));
    let is_number = number.len() == 64 && number.bytes().all(|digit| digit.is_ascii_hexdigit());
    (is_number && !engine.contains("conmon")).then_some(number)
}

/// The number in the name of a pod's group: `podNUMBER`, or in a slice with `_` for `-`.
fn pod_of(group: &str) -> Option<String> {
    let slice = group.strip_suffix(".slice").unwrap_or(group);
    let (_, number) = slice
        .rsplit_once("pod")
        .filter(|(before, _)| before.is_empty() || before.ends_with('-'))?;
    (number.len() == 36).then(|| number.replace('_', "-"))
}

/// Calls back with each group and its name; goes below it where that says so.
fn walk(directory: &Path, visit: &mut dyn FnMut(&Path, &str) -> bool) {
    for entry in fs::read_dir(directory).into_iter().flatten().flatten() {
        let is_group = entry.file_type().is_ok_and(|kind| kind.is_dir());
        let name = entry.file_name();
        if is_group && name.to_str().is_some_and(|name| visit(&entry.path(), name)) {
            walk(&entry.path(), visit);
        }
    }
}

const SHORTEST: usize = 12;

/// `config.v2.json` of docker.
#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct OfDocker {
    #[serde(rename = "ID")]
    id: String,
    name: String,
}
/// An entry of `containers.json`, of the storage that podman and CRI-O share.
#[derive(Deserialize)]
struct OfStorage {
    id: String,
    #[serde(default)]
    names: Vec<String>,
}

/// Numbers of containers by this name, or the number that it is.
fn container_numbers(root: &Path, name: &str) -> BTreeSet<String> {
    let mut numbers = BTreeSet::new();
    if name.len() >= SHORTEST && name.bytes().all(|digit| digit.is_ascii_hexdigit()) {
        numbers.insert(name.to_owned());
    }
    for entry in
        fs::read_dir(root.join("var/lib/docker/containers")).into_iter().flatten().flatten()
    {
        let text = fs::read(entry.path().join("config.v2.json")).unwrap_or_default();
        let it = serde_json::from_slice::<OfDocker>(&text);
        numbers
            .extend(it.ok().filter(|it| it.name.trim_start_matches('/') == name).map(|it| it.id));
    }
    let home = std::env::var_os("HOME").map(PathBuf::from).unwrap_or_default();
    let home = root.join(home.strip_prefix("/").unwrap_or(&home));
    for storage in [root.join("var/lib/containers"), home.join(".local/share/containers")] {
        for driver in ["overlay", "vfs", "btrfs"] {
            let path = storage.join(format!("storage/{driver}-containers/containers.json"));
            let text = fs::read(path).unwrap_or_default();
            let all: Vec<OfStorage> = serde_json::from_slice(&text).unwrap_or_default();
            let named = all.into_iter().filter(|it| it.names.iter().any(|it| it == name));
            numbers.extend(named.map(|it| it.id));
        }
    }
    numbers
}

/// Numbers of pods by this name, from the names of their logs: `NAMESPACE_NAME_NUMBER`.
fn pod_numbers(root: &Path, name: &str) -> BTreeSet<String> {
    let mut numbers: BTreeSet<String> = [name.to_owned()].into();
    let (space, pod) = name.split_once('/').map_or((None, name), |(space, pod)| (Some(space), pod));
    for entry in fs::read_dir(root.join("var/log/pods")).into_iter().flatten().flatten() {
        let log = entry.file_name().to_string_lossy().into_owned();
        let mut parts = log.splitn(3, '_');
        if let (Some(in_space), Some(of_pod), Some(number)) =
            (parts.next(), parts.next(), parts.next())
            && of_pod == pod
            && space.is_none_or(|space| space == in_space)
        {
            numbers.insert(number.to_owned());
        }
    }
    numbers
}

#[cfg(test)]
mod tests {
    use super::*;

    const A: &str = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";
    const B: &str = "1123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";
    const POD: &str = "6a8c1b7e-1d6c-4f0e-9d5b-0a1b2c3d4e5f";

    /// The layouts of section 3 of the engines' manuals, below one mount.
    fn tree() -> tempfile::TempDir {
        let place = tempfile::tempdir().unwrap();
        let make = |path: String| fs::create_dir_all(place.path().join(path)).unwrap();
        make(format!("mount/system.slice/docker-{A}.scope/init"));
        make(format!("mount/libpod_parent/libpod-conmon-{B}"));
        make(format!("mount/libpod_parent/libpod-{B}/container"));
        make("mount/system.slice/nginx.service".into());
        make("mount/system.slice/system-getty.slice/getty@tty1.service".into());
        make("mount/user.slice/user-1000.slice/user@1000.service/app.slice/nginx.scope".into());
        make("mount/lxc.payload.web".into());
        make("mount/lxc/old".into());
        let slice = POD.replace('-', "_");
        make(format!(
            "mount/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod{slice}.slice/cri-containerd-{A}.scope"
        ));
        make(format!("root/var/log/pods/shop_cart-7_{POD}"));
        make(format!("root/var/lib/docker/containers/{A}"));
        make("root/var/lib/containers/storage/overlay-containers".into());
        let write = |path: &str, text: String| fs::write(place.path().join(path), text).unwrap();
        write(
            &format!("root/var/lib/docker/containers/{A}/config.v2.json"),
            format!(r#"{{"ID":"{A}","Name":"/cache","State":{{}}}}"#),
        );
        write(
            "root/var/lib/containers/storage/overlay-containers/containers.json",
            format!(r#"[{{"id":"{B}","names":["db"],"image":"x"}},{{"id":"{A}"}}]"#),
        );
        place
    }

    #[test]
    fn names_are_found_where_engines_put_them() {
        let place = tree();
        let at = |name: &str| place.path().join(name);
        let check = |named: Named, want: &str| {
            let found = named.find(&at("mount"), &at("root"));
            match found {
                Ok(path) => {
                    assert!(path.ends_with(want) && !want.is_empty(), "{named:?}: {path:?}");
                }
                Err(error) => assert!(error.to_string().contains(want), "{named:?}: {error}"),
            }
        };
        let container = |name: &str| Named::Container(name.to_owned());
        let unit = |name: &str| Named::Unit(name.to_owned());
        let pod = |name: &str| Named::Pod(name.to_owned());
        check(container("db"), &format!("libpod_parent/libpod-{B}"));
        check(container(&B[..12]), &format!("libpod_parent/libpod-{B}"));
        check(container("web"), "lxc.payload.web");
        check(container("old"), "lxc/old");
        // In a pod and outside: two groups have the number.
        check(container("cache"), "names 2 cgroups");
        check(container("missing"), "no container `missing` runs here");
        check(container("0123"), "no container `0123` runs here");
        check(unit("nginx"), "system.slice/nginx.service");
        check(unit("nginx.scope"), "app.slice/nginx.scope");
        check(unit("getty@tty1"), "getty@tty1.service");
        check(unit("user.slice"), "user.slice");
        check(unit("none"), "no unit `none` runs here");
        let slice = format!("pod{}.slice", POD.replace('-', "_"));
        for name in ["cart-7", "shop/cart-7", POD] {
            check(pod(name), &format!("kubepods-burstable-{slice}"));
        }
        check(pod("other/cart-7"), "no pod `other/cart-7` runs here");
    }
}
