//! The servers of a script: started before the steps of a condition, in its group, and ended after them.

use std::ffi::OsString;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicI32, Ordering};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use rustix::thread::CpuSet;

use super::Error;
use super::script::{Script, Server};
use super::stop::Stop;
use crate::clock::Stopwatch;
use crate::experiment::session::Session;
use crate::sys::cgroup::Group;
use crate::sys::process::{Account, signal};
use crate::workload::command::{self, Around, Brief, Command, brief};

/// A server that has not begun to answer by then never will.
const READY: Duration = Duration::from_mins(1);
/// A server that has not ended by then is killed.
const END: Duration = Duration::from_secs(10);
const LOOK: Duration = Duration::from_millis(50);

/// Servers that run. Dropping them asks them to end, and ends them.
#[derive(Debug)]
pub(super) struct Servers {
    stop: Arc<Stop>,
    running: Vec<Running>,
}

/// A thread that runs a server.
type Ran = JoinHandle<Result<Option<Brief>, command::Error>>;

#[derive(Debug)]
struct Running {
    /// Its command, for messages.
    name: String,
    /// The process, once it may execute.
    pid: Arc<AtomicI32>,
    thread: Option<Ran>,
}

/// Where servers run.
#[derive(Clone, Default)]
struct Where {
    group: Option<Arc<Group>>,
    processors: Option<CpuSet>,
    account: Option<Account>,
}

impl Servers {
    /// Starts all servers of a script, one after the other, and waits until each can be asked.
    pub(super) fn start(
        script: &Script,
        group: Option<&Arc<Group>>,
        processors: Option<CpuSet>,
        session: &Session<'_>,
    ) -> Result<Self, Error> {
        let stop = Arc::new(Stop::new().map_err(Error::Counters)?);
        let mut servers = Self { stop, running: Vec::new() };
        for server in &script.servers {
            let place =
                Where { group: group.cloned(), processors, account: session.account.clone() };
            servers.running.push(Running::start(server, place, &servers.stop)?);
            servers.wait(server, session)?;
        }
        Ok(servers)
    }

    /// Waits until the last server can be asked, or a signal ends the load.
    fn wait(&mut self, server: &Server, session: &Session<'_>) -> Result<(), Error> {
        let began = Stopwatch::start();
        let name = || server.run.join(" ");
        let mut is_ready = false;
        while !session.is_over() {
            if let Some(thread) = self.running.last_mut().and_then(Running::take_ended) {
                // A program that is not there is an error of its own.
                thread.join().unwrap_or(Ok(None))?;
                return Err(Error::ServerEnded(name()));
            }
            if is_ready {
                return Ok(());
            }
            // Outside of the group: this is not the work of users.
            let place = Where { account: session.account.clone(), ..Where::default() };
            // It may be another server that answers, which has kept ours from its address: then ours ends at once.
            is_ready = run(&server.ready, &place, &self.stop, &|_| {})?
                .is_some_and(|ran| ran.exit_status == 0);
            if !is_ready && began.elapsed() > READY {
                let ready = server.ready.join(" ");
                return Err(Error::ServerNotReady { server: name(), ready, after: READY });
            }
            thread::sleep(LOOK);
        }
        Ok(())
    }
}

impl Servers {
    /// A server that has ended before it was asked to.
    pub(super) fn ended(&self) -> Option<&str> {
        self.running.iter().find(|running| running.is_over()).map(|running| &*running.name)
    }
}

impl Running {
    fn start(server: &Server, place: Where, stop: &Arc<Stop>) -> Result<Self, Error> {
        let pid = Arc::new(AtomicI32::new(0));
        let (words, stop, began) = (server.run.clone(), stop.clone(), pid.clone());
        let of_server =
            move || run(&words, &place, &stop, &|pid| began.store(pid, Ordering::Release));
        let failed = |cause: io::Error| Error::Thread { user: 1, cause };
        let thread =
            thread::Builder::new().name("server".into()).spawn(of_server).map_err(failed)?;
        Ok(Self { name: server.run.join(" "), pid, thread: Some(thread) })
    }

    fn is_over(&self) -> bool {
        self.thread.as_ref().is_none_or(JoinHandle::is_finished)
    }

    fn take_ended(&mut self) -> Option<Ran> {
        self.thread.take_if(|thread| thread.is_finished())
    }
}

impl Drop for Servers {
    fn drop(&mut self) {
        for running in &self.running {
            let pid = running.pid.load(Ordering::Acquire);
            if pid > 0 && !running.is_over() {
                // What does not listen is ended below.
                let _ = signal(pid, SIGTERM);
            }
        }
        let asked = Stopwatch::start();
        while asked.elapsed() < END && !self.running.iter().all(Running::is_over) {
            thread::sleep(LOOK);
        }
        self.stop.now();
        for running in &mut self.running {
            let _ = running.thread.take().map(JoinHandle::join);
        }
    }
}

const SIGTERM: i32 = 15;

fn run(
    words: &[String],
    place: &Where,
    stop: &Stop,
    begins: &dyn Fn(i32),
) -> Result<Option<Brief>, command::Error> {
    let arguments = words.iter().map(OsString::from).collect();
    let command = Command { arguments, account: place.account.clone(), ..Command::default() };
    let begins = |pid: i32, _| begins(pid);
    let (group, processors) = (place.group.as_deref(), place.processors);
    brief(&command, Around { group, processors, over: stop.descriptor(), begins: &begins })
}
