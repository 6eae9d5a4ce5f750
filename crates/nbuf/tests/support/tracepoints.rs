//! Tracepoints that a program of tests keeps open. The kernel waits for all processors when the last one who has a
//! tracepoint open closes it: some 40 ms for each, or half a second for each recording that a test makes.

use std::sync::mpsc;
use std::sync::{Once, OnceLock};

use nbuf::internal::workload::record::events::SOURCES;
use nbuf::internal::workload::record::perf::{Error, Perf};

/// Nothing is ever recorded.
const RING_BYTES: usize = 4096;
/// As `perf_event_open` calls it.
const THIS_THREAD: i32 = 0;

/// Why none can be had. Asked once, as the answer stays.
pub(crate) fn missing() -> Option<String> {
    static ANSWER: OnceLock<Option<String>> = OnceLock::new();
    let ask = || Perf::prepare(&SOURCES).err().map(|error| format!("recording: {error}"));
    ANSWER.get_or_init(ask).clone()
}

/// Keeps those of a recording open until this process ends. Where that fails, recordings take their time.
pub(crate) fn keep() {
    static KEPT: Once = Once::new();
    KEPT.call_once(|| {
        let (done, is_done) = mpsc::channel();
        std::thread::spawn(move || {
            let kept = open();
            let _ = done.send(());
            while kept.is_ok() {
                std::thread::park();
            }
        });
        let _ = is_done.recv();
    });
}

/// Those of the calling thread, which must start nothing: what it starts would inherit them. They are disabled until it
/// executes a program, which it never does.
fn open() -> Result<Perf, Error> {
    let perf = Perf::prepare(&SOURCES)?.with_ring_bytes(RING_BYTES);
    let mut perf = perf.with_detours().with_advice().with_pipes();
    perf.attach(THIS_THREAD)?;
    Ok(perf)
}
