//! The command line of the machine.

use std::path::Path;

use super::image::Image;

/// The emulator.
pub(super) const QEMU: &str = "qemu-system-x86_64";

/// What the kernel is started with. The first serial line is its console, the second one is the job's. A panic restarts
/// the machine, which ends QEMU.
const KERNEL_LINE: &str =
    "root=/dev/vda rw console=ttyS0 quiet panic=5 systemd.unified_cgroup_hierarchy=1";
/// Large enough for each program's data, small enough for this machine.
const MEMORY_MIB: &str = "2048";

/// A machine to boot.
#[derive(Debug)]
pub(super) struct Boot<'a> {
    pub(super) image: &'a Image,
    /// The disc with the job.
    pub(super) job: &'a Path,
    /// Where the job's line goes.
    pub(super) serial: &'a Path,
    /// Where the console goes.
    pub(super) console: &'a Path,
    /// Whether `/dev/kvm` can be opened. The emulator takes over if it does not work.
    pub(super) has_kvm: bool,
    pub(super) minutes: u32,
}

impl Boot<'_> {
    /// The command, ended by `timeout` when the time is up. Nothing that the machine writes stays on the image.
    pub(super) fn command(&self) -> Vec<String> {
        let path = |path: &Path| path.to_string_lossy().replace(',', ",,");
        let mut words = ["timeout", "--kill-after=30"].map(str::to_owned).to_vec();
        words.push(format!("{}m", self.minutes));
        words.push(QEMU.to_owned());
        let accelerators: &[&str] = if self.has_kvm { &["kvm", "tcg"] } else { &["tcg"] };
        words.extend(accelerators.iter().flat_map(|&name| ["-accel", name]).map(str::to_owned));
        let fixed =
            ["-cpu", "max", "-smp", "2", "-m", MEMORY_MIB, "-display", "none", "-no-reboot"];
        words.extend(fixed.map(str::to_owned));
        words.extend(["-nic", "none", "-append", KERNEL_LINE].map(str::to_owned));
        let disc = path(&self.image.disc);
        let (job, console) = (path(self.job), path(self.console));
        let files = [
            ("-kernel", self.image.kernel.to_string_lossy().into_owned()),
            ("-initrd", self.image.initial.to_string_lossy().into_owned()),
            ("-drive", format!("file={disc},if=virtio,format=raw,snapshot=on")),
            ("-drive", format!("file={job},if=virtio,format=raw,readonly=on")),
            ("-chardev", format!("file,id=console,path={console}")),
            ("-serial", "chardev:console".to_owned()),
            ("-chardev", format!("file,id=job,path={}", path(self.serial))),
            ("-serial", "chardev:job".to_owned()),
        ];
        words.extend(files.into_iter().flat_map(|(option, value)| [option.to_owned(), value]));
        words
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(has_kvm: bool) -> String {
        let image =
            Image { disc: "/v/root,1".into(), kernel: "/v/k".into(), initial: "/v/i".into() };
        let (job, serial, console) = (Path::new("/j"), Path::new("/s"), Path::new("/c"));
        let boot = Boot { image: &image, job, serial, console, has_kvm, minutes: 7 };
        boot.command().join(" ")
    }

    #[test]
    fn the_emulator_stands_in_for_kvm_and_is_ended_in_time() {
        let with = words(true);
        assert!(with.starts_with("timeout --kill-after=30 7m qemu-system-x86_64 "), "{with}");
        assert!(with.contains("-accel kvm -accel tcg "), "{with}");
        let without = words(false);
        assert!(without.contains("-accel tcg ") && !without.contains("kvm"), "{without}");
    }

    #[test]
    fn the_image_keeps_nothing_and_the_job_has_the_second_line() {
        let words = words(true);
        assert!(words.contains("file=/v/root,,1,if=virtio,format=raw,snapshot=on"), "{words}");
        assert!(words.contains("file=/j,if=virtio,format=raw,readonly=on"), "{words}");
        let (console, job) = (words.find("chardev:console"), words.find("chardev:job"));
        assert!(console < job && console.is_some(), "{words}");
    }
}
