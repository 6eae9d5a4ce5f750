//! The figures of an interval by the names that Prometheus keeps.

use nbuf::experiment::result::{WatchDisc, WatchDocument, WatchFile, WatchStates};

use super::{Family, Value, Values, bytes, counted, now, plain, ratio, seconds};

/// Every family of an interval. What could not be measured has no value.
pub(super) fn of(seen: &WatchDocument) -> Vec<Family> {
    let parts =
        [processors, queue, faults, cache, discs, files, chosen, own].map(|part| part(seen));
    parts.into_iter().flatten().filter(|family| !family.values.is_empty()).collect()
}

/// A value for each name of a label.
fn by<const N: usize>(label: &'static str, values: [(&str, Value); N]) -> Values {
    values.into_iter().map(|(name, value)| (vec![(label, name.to_owned())], value)).collect()
}

fn kinds(major: u64, minor: u64) -> Values {
    let counts = [("major", major), ("minor", minor)];
    by("kind", counts.map(|(kind, count)| (kind, Value::Counter(count as f64))))
}

fn processors(seen: &WatchDocument) -> Vec<Family> {
    let modes = seen.cpu.named().map(|(name, part)| (name.replace(' ', "_"), part));
    let modes = modes.map(|(mode, part)| (vec![("mode", mode)], Value::Counter(part)));
    let waits = seen.cpu.disc_wait_seconds.map(|waited| (Vec::new(), Value::Counter(waited)));
    let pressure = seen.pressure.iter().flat_map(|pressure| {
        let shares = [
            ("cpu", "some", pressure.cpu_some_percent),
            ("disc", "some", pressure.io_some_percent),
            ("disc", "full", pressure.io_full_percent),
            ("memory", "some", pressure.memory_some_percent),
            ("memory", "full", pressure.memory_full_percent),
        ];
        shares.map(|(resource, tasks, percent)| {
            let labels = vec![("resource", resource.to_owned()), ("tasks", tasks.to_owned())];
            (labels, Value::Gauge(percent / 100.0))
        })
    });
    vec![
        seconds("cpu", "Time of all processors by what they did").of(modes.into()),
        plain("processors", "Processors that are online").of(now(seen.processors as f64)),
        seconds("disc_wait", "Times of all tasks in waits for a block device")
            .of(waits.into_iter().collect()),
        plain("interrupts", "Interrupts").of(counted(seen.cpu.interrupts)),
        ratio("pressure", "Share of the interval in which some or all tasks waited")
            .of(pressure.collect()),
    ]
}

fn queue(seen: &WatchDocument) -> Vec<Family> {
    let queue = &seen.queue;
    let states = states(&seen.states).map(|(state, count)| (state, Value::Gauge(count as f64)));
    let [entries, exits] =
        [queue.entries, queue.exits].map(|count| count.map(counted).unwrap_or_default());
    vec![
        plain("run_queue_length", "Tasks that ran or could run, mean of the interval")
            .of(now(queue.length_mean)),
        plain("run_queue_entries", "Times that a thread became able to run").of(entries),
        plain("run_queue_exits", "Times that a thread stopped being able to run").of(exits),
        plain("context_switches", "Context switches").of(counted(queue.switches)),
        plain("tasks_created", "Processes and threads that were made").of(counted(queue.created)),
        plain("processes", "Processes by the state of their first thread").of(by("state", states)),
    ]
}

fn states(states: &WatchStates) -> [(&'static str, u64); 6] {
    [
        ("running", states.running),
        ("sleeping", states.sleeping),
        ("disc", states.disc),
        ("stopped", states.stopped),
        ("zombie", states.zombies),
        ("kernel_idle", states.kernel_idle),
    ]
}

fn faults(seen: &WatchDocument) -> Vec<Family> {
    let faults = &seen.faults;
    let between = [("major", &faults.between_major), ("any", &faults.between)];
    let between = between.into_iter().filter_map(|(kind, times)| {
        Some((vec![("kind", kind.to_owned())], Value::histogram(times.as_ref()?)))
    });
    let help = "Running time of a processor between two faults on it, of the first 512 in each tenth of a second";
    vec![
        plain("page_faults", "Page faults; a major one waited for a disc")
            .of(kinds(faults.major, faults.minor)),
        seconds("running_between_page_faults", help).of(between.collect()),
    ]
}

fn cache(seen: &WatchDocument) -> Vec<Family> {
    let cache = &seen.cache;
    let evictions = counted(cache.evictions);
    vec![
        bytes("page_cache", "Size of the page cache").of(now(cache.bytes.0 as f64)),
        bytes("page_cache_read", "Bytes read from block devices").of(counted(cache.read_bytes.0)),
        plain("page_cache_fills", "Pages put in, at least").of(counted(cache.fills_min)),
        plain("page_cache_evictions", "Pages that reclaim took").of(evictions),
        plain("page_cache_refaults", "Pages read again soon after their eviction")
            .of(counted(cache.refaults)),
    ]
}

fn discs(seen: &WatchDocument) -> Vec<Family> {
    let all = |value: &dyn Fn(&WatchDisc) -> Value| {
        seen.discs.iter().map(|disc| (vec![("disc", disc.name.clone())], value(disc))).collect()
    };
    let count = |count: u64| Value::Counter(count as f64);
    let service = seen.service.as_ref().map(|times| (Vec::new(), Value::histogram(times)));
    vec![
        plain("disc_reads", "Reads that completed").of(all(&|disc| count(disc.reads))),
        bytes("disc_read", "Bytes read").of(all(&|disc| count(disc.read_bytes.0))),
        plain("disc_writes", "Writes that completed").of(all(&|disc| count(disc.writes))),
        bytes("disc_written", "Bytes written").of(all(&|disc| count(disc.written_bytes.0))),
        plain("disc_queue_length", "Mean length of the queue, requests in service included")
            .of(all(&|disc| Value::Gauge(disc.queue_mean))),
        ratio("disc_busy", "Share of the interval in which the disc had a request")
            .of(all(&|disc| Value::Gauge(disc.busy_percent / 100.0))),
        seconds("disc_service", "Time at the device from issue to completion, of all discs")
            .of(service.into_iter().collect()),
    ]
}

fn files(seen: &WatchDocument) -> Vec<Family> {
    let all = |value: fn(&WatchFile) -> u64| {
        let known = seen.files.iter().filter(|file| file.error.is_none());
        let value = |file: &WatchFile| {
            (vec![("path", file.path.clone())], Value::Gauge(value(file) as f64))
        };
        known.map(value).collect()
    };
    vec![
        plain("file_pages", "Pages of a named file").of(all(|file| file.pages)),
        plain("file_cached_pages", "Its pages in the page cache").of(all(|file| file.cached)),
        plain("file_dirty_pages", "Its pages that are not yet written").of(all(|file| file.dirty)),
    ]
}

fn chosen(seen: &WatchDocument) -> Vec<Family> {
    let Some(chosen) = &seen.chosen else { return Vec::new() };
    let modes = [("user", chosen.user_seconds), ("system", chosen.system_seconds)];
    let modes = by("mode", modes.map(|(mode, spent)| (mode, Value::Counter(spent))));
    let memory = now(chosen.resident_bytes.0 as f64);
    vec![
        seconds("chosen_cpu", "Time of the chosen processes").of(modes),
        plain("chosen_page_faults", "Page faults of the chosen processes")
            .of(kinds(chosen.faults_major, chosen.faults_minor)),
        bytes("chosen_resident", "Memory of the chosen processes").of(memory),
        plain("chosen_processes", "Number of the chosen processes")
            .of(now(chosen.processes.len() as f64)),
    ]
}

fn own(seen: &WatchDocument) -> Vec<Family> {
    let own = &seen.own;
    let spent = |percent: f64| Value::Counter(percent / 100.0 * seen.seconds);
    let by_whom = [("nbuf", spent(own.cpu_percent)), ("records", spent(own.records_percent))];
    let length = vec![(Vec::new(), Value::Counter(seen.seconds))];
    vec![
        seconds("own_cpu", "Processor time of nbuf, and of its records in other threads")
            .of(by("of", by_whom)),
        plain("records", "Records of the kernel").of(counted(own.records)),
        plain("records_lost", "Records that were lost").of(counted(own.lost)),
        seconds("watched", "Length of all intervals").of(length),
    ]
}
