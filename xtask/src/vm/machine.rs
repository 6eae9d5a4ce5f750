//! The command line of the machine.

use std::fs;
use std::path::Path;

use super::image::Image;

/// The emulator.
pub(super) const QEMU: &str = "qemu-system-x86_64";

/// What the kernel is started with. The first serial line is its console, the second one is the job's. A panic restarts
/// the machine, which ends QEMU. What costs an emulated processor most is left out: page tables of five levels,
/// mitigations, watchdogs, and drivers of devices that no program here uses.
const KERNEL_LINE: &str = "root=/dev/vda rw console=ttyS0 quiet panic=5 no5lvl mitigations=off nowatchdog \
     systemd.unified_cgroup_hierarchy=1 systemd.unit=job.service systemd.mask=systemd-udev-trigger.service";
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
    /// The disc for what the job keeps.
    pub(super) kept: &'a Path,
    pub(super) has_kvm: bool,
    pub(super) minutes: u32,
}

impl Boot<'_> {
    /// The command, ended by `timeout` when the time is up. Nothing that the machine writes stays on the image.
    ///
    /// It has one processor, so that another one of this machine stays free. An emulated processor is an old one:
    /// each new feature that the kernel finds costs time.
    pub(super) fn command(&self) -> Vec<String> {
        let path = |path: &Path| path.to_string_lossy().replace(',', ",,");
        let mut words = ["timeout", "--kill-after=30"].map(str::to_owned).to_vec();
        words.push(format!("{}m", self.minutes));
        words.push(QEMU.to_owned());
        let (accelerator, processor) =
            if self.has_kvm { ("kvm", "max") } else { ("tcg", "Nehalem") };
        words.extend(["-accel", accelerator, "-cpu", processor].map(str::to_owned));
        let fixed =
            ["-smp", "1", "-m", MEMORY_MIB, "-nodefaults", "-display", "none", "-no-reboot"];
        words.extend(fixed.map(str::to_owned));
        words.extend(["-append", KERNEL_LINE].map(str::to_owned));
        let disc = path(&self.image.disc);
        let (job, kept, console) = (path(self.job), path(self.kept), path(self.console));
        let files = [
            ("-kernel", self.image.kernel.to_string_lossy().into_owned()),
            ("-initrd", self.image.initial.to_string_lossy().into_owned()),
            ("-drive", format!("file={disc},if=virtio,format=raw,snapshot=on")),
            ("-drive", format!("file={job},if=virtio,format=raw,readonly=on")),
            ("-drive", format!("file={kept},if=virtio,format=raw")),
            ("-chardev", format!("file,id=console,path={console}")),
            ("-serial", "chardev:console".to_owned()),
            ("-chardev", format!("file,id=job,path={}", path(self.serial))),
            ("-serial", "chardev:job".to_owned()),
        ];
        words.extend(files.into_iter().flat_map(|(option, value)| [option.to_owned(), value]));
        words
    }
}

/// Whether KVM runs any kernel: `/dev/kvm` opens, and the processor has the extensions for it. Without them, a KVM
/// runs kernels that are made for it; others stop at their first instructions, and QEMU waits.
pub(super) fn has_kvm() -> bool {
    let is_open = fs::OpenOptions::new().read(true).write(true).open("/dev/kvm").is_ok();
    is_open && has_extensions(&fs::read_to_string("/proc/cpuinfo").unwrap_or_default())
}

fn has_extensions(cpuinfo: &str) -> bool {
    let mut flags = cpuinfo.lines().filter(|line| line.starts_with("flags"));
    flags.any(|line| line.split_whitespace().any(|flag| flag == "vmx" || flag == "svm"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(has_kvm: bool) -> String {
        let image =
            Image { disc: "/v/root,1".into(), kernel: "/v/k".into(), initial: "/v/i".into() };
        let (job, kept) = (Path::new("/j"), Path::new("/o"));
        let (serial, console) = (Path::new("/s"), Path::new("/c"));
        let boot = Boot { image: &image, job, kept, serial, console, has_kvm, minutes: 7 };
        boot.command().join(" ")
    }

    #[test]
    fn the_processor_is_emulated_without_kvm_and_ended_in_time() {
        let with = words(true);
        assert!(with.starts_with("timeout --kill-after=30 7m qemu-system-x86_64 "), "{with}");
        assert!(with.contains("-accel kvm -cpu max -smp 1 "), "{with}");
        let without = words(false);
        assert!(without.contains("-accel tcg ") && !without.contains("kvm"), "{without}");
    }

    #[test]
    fn the_image_keeps_nothing_and_the_job_has_the_second_line_and_a_disc_to_keep_things() {
        let words = words(true);
        assert!(words.contains("file=/v/root,,1,if=virtio,format=raw,snapshot=on"), "{words}");
        assert!(words.contains("file=/j,if=virtio,format=raw,readonly=on"), "{words}");
        assert!(words.contains("file=/o,if=virtio,format=raw -chardev"), "{words}");
        let (console, job) = (words.find("chardev:console"), words.find("chardev:job"));
        assert!(console < job && console.is_some(), "{words}");
    }

    #[test]
    fn a_processor_without_the_extensions_is_emulated() {
        assert!(has_extensions("model name : x\nflags\t\t: fpu vmx sse\n"));
        assert!(has_extensions("flags : svm"));
        assert!(!has_extensions("model name : svm vmx\nflags : fpu vmmcall hypervisor\n"));
        assert!(!has_extensions(""));
    }
}
