//! The commands whose every access is known.

/// A command and what it must come to.
#[derive(Clone, Copy)]
pub(crate) struct Case {
    pub(crate) name: &'static str,
    /// A tool it needs beyond a shell.
    pub(crate) needs: &'static str,
    /// Shell, in the directory of the file system, where `a` is 1024 cached pages.
    pub(crate) command: &'static str,
    /// The file that is looked at; all files that begin so, when it ends in `*`.
    pub(crate) file: &'static str,
    /// Kinds of file system where the kernel does otherwise. On `fuse` these are what the fallback
    /// for file systems without a tracepoint for writes cannot know (docs/support.md).
    pub(crate) not_on: &'static [&'static str],
    /// Operations with requests and pages; `*` for what the kernel may choose.
    pub(crate) want: &'static str,
}

const fn case(
    name: &'static str,
    command: &'static str,
    file: &'static str,
    want: &'static str,
) -> Case {
    Case { name, needs: "sh", command, file, not_on: &[], want }
}

const fn python(
    name: &'static str,
    command: &'static str,
    file: &'static str,
    want: &'static str,
) -> Case {
    Case { name, needs: "python3", command, file, not_on: &[], want }
}

/// The same, but not on user-space file systems.
const fn not_on_fuse(case: Case) -> Case {
    Case { not_on: &["fuse"], ..case }
}

pub(crate) const CASES: [Case; 21] = [
    case("small reads", "dd if=a of=/dev/null bs=4k", "a", "Read 1024/1024"),
    case("one large read", "dd if=a of=/dev/null bs=4M", "a", "Read 1/1024"),
    // The last page was written in part and is read again there; the tracepoint leaves out those before it.
    not_on_fuse(case(
        "a read past the end",
        "dd if=short of=/dev/null bs=64k",
        "short",
        "Read 1/3",
    )),
    case(
        "two tasks at once",
        "dd if=a bs=1M >/dev/null & dd if=a bs=1M of=/dev/null; wait",
        "a",
        "Read 8/2048",
    ),
    Case {
        name: "direct reads",
        needs: "sh",
        command: "dd if=a of=/dev/null bs=64k iflag=direct",
        file: "a",
        // The first read goes through the cache there.
        not_on: &["btrfs"],
        want: "",
    },
    case("new file", "dd if=/dev/zero of=new bs=4k count=256", "new", "Write 256/256"),
    case("overwrite", "dd if=/dev/zero of=a bs=4k conv=notrunc count=1024", "a", "Write 1024/1024"),
    // Gone before anybody could ask what its descriptors are.
    not_on_fuse(case(
        "large overwrite",
        "dd if=/dev/zero of=a bs=1M conv=notrunc count=4",
        "a",
        "Write */1024",
    )),
    not_on_fuse(case(
        "overwrite, short-lived",
        "for i in 1 2 3 4 5 6 7 8 9 10; do
        dd if=/dev/zero of=a bs=4k count=4 seek=100 conv=notrunc; done",
        "a",
        "Write 40/40",
    )),
    not_on_fuse(case(
        "append",
        "for i in 1 2 3 4 5 6 7 8 9 10; do echo more >>log; done",
        "log",
        "Write 10/10",
    )),
    case("truncate", ": >a", "a", "Evict */1024"),
    case("read, then truncated", "cat a; : >a", "a", "Evict */1024, Read */1024"),
    case("read, then removed", "cat a; rm a", "a*", "Evict */1024, Read */1024"),
    // Ten thousand of them take a minute there.
    not_on_fuse(case(
        "many small files",
        "find many -type f -exec cat {} + >/dev/null",
        "many/*",
        "Read 10000/10000",
    )),
    python(
        "sendfile",
        "import os; i = os.open('a', 0); o = os.open('/dev/null', 1)
while os.sendfile(o, i, None, 1 << 20): pass",
        "a",
        "Splice */1024",
    ),
    python(
        "random pread",
        "import os; f = os.open('a', 0)
for i in range(1000): os.pread(f, 4096, i * 7919 % 1024 * 4096)",
        "a",
        "Read 1000/1000",
    ),
    python(
        "random pwrite",
        "import os; f = os.open('a', 1)
for i in range(1000): os.pwrite(f, b'x' * 100, i * 7919 % 1024 * 4096)",
        "a",
        "Write 1000/1000",
    ),
    python(
        "mapped",
        "import mmap; f = open('a', 'rb')
m = mmap.mmap(f.fileno(), 0, prot=mmap.PROT_READ)
for i in range(0, 4 << 20, 4096): m[i]",
        "a",
        "mapped 1024",
    ),
    // The file is renamed there, and goes later.
    not_on_fuse(python(
        "deleted while open",
        "import os; f = os.open('a', 0); os.unlink('a')
import time; time.sleep(0.1)
while os.read(f, 4096): pass
os.close(f)",
        "a*",
        "Evict */1024, Read 1024/1024",
    )),
    python(
        "renamed while open",
        "import os; f = os.open('a', 0); os.rename('a', 'a2')
while os.read(f, 4096): pass",
        "a*",
        "Read 1024/1024",
    ),
    Case {
        name: "io_uring",
        needs: "fio",
        command: "fio --name=r --filename=a --rw=read --bs=4k --ioengine=io_uring --invalidate=0 \
            --fadvise_hint=0 --iodepth=8 --output=/dev/null",
        file: "a",
        not_on: &[],
        want: "Read 1024/1024",
    },
];

pub(crate) const PREPARE: &str =
    "rm -rf -- a a2 new log; head -c 4194304 /dev/urandom >a; sync -f a; cat a";
pub(crate) const PREPARE_ONCE: &str = "mkdir many; cd many; i=0; while [ $i -lt 10000 ]; do
    echo $i >$i; i=$((i + 1)); done; cd ..; head -c 10000 /dev/zero >short; sync -f .";
