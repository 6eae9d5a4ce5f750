//! The verbs, one file each. A verb reads its arguments, calls the library, and gives an exit
//! status.

mod attach;
mod bench;
mod capture;
mod completions;
mod course;
mod curve;
mod demo;
mod doctor;
mod fleet;
mod load;
mod man;
mod memory;
mod ping;
mod policy;
mod record;
mod replay;
mod run;
mod scrapes;
mod serve;
mod size;
mod sweep;
mod trace;
mod unix;
mod watch;

use anyhow::Result;
use clap::Subcommand;

use crate::sudo_user::Needs;

/// What `nbuf` can do. Adding a verb is a line here, a line in [`run`] and a file.
#[derive(Debug, Subcommand)]
pub(crate) enum Verb {
    Size(Box<size::Args>),
    Demo(demo::Args),
    #[command(hide = true)]
    DemoKeeper(demo::KeeperArgs),
    #[command(hide = true)]
    DemoWork(demo::WorkArgs),
    Record(record::Arguments),
    Run(run::Arguments),
    #[command(hide = true)]
    ShellHelper(run::Helper),
    Watch(Box<watch::Arguments>),
    Load(Box<load::Arguments>),
    Curve(Box<curve::Args>),
    Fleet(Box<fleet::Args>),
    #[command(name = nbuf::experiment::fleet::CHILD, hide = true)]
    FleetWorker(fleet::WorkerArgs),
    Replay(Box<replay::Args>),
    Serve(Box<serve::Args>),
    Sweep(sweep::Args),
    Trace(trace::Arguments),
    Bench(Box<bench::Arguments>),
    #[command(name = nbuf::experiment::bench::CHILD, hide = true)]
    BenchChild(bench::child::Arguments),
    Ping(ping::Args),
    #[command(name = nbuf::experiment::ping::CHILD, hide = true)]
    PingChild(ping::Child),
    Writer(course::Writer),
    Reader(course::Reader),
    Memreader(course::Memreader),
    Unix(unix::Arguments),
    Doctor(doctor::Arguments),
    Completions(completions::Arguments),
    Man(man::Arguments),
}

impl Verb {
    /// What it needs beyond the caller's own rights: the verbs that run a command and watch it.
    pub(crate) fn needs(&self) -> Needs {
        match self {
            Self::Size(arguments) => arguments.needs(),
            Self::Watch(arguments) => arguments.needs(),
            Self::ShellHelper(_)
            | Self::Demo(_)
            | Self::Record(_)
            | Self::Run(_)
            | Self::Doctor(_) => Needs::Watching,
            _ => Needs::Nothing,
        }
    }
}

/// Does it. The number is the exit status.
pub(crate) fn run(verb: &Verb) -> Result<u8> {
    match verb {
        Verb::Size(arguments) => {
            arguments.check()?;
            size::run(arguments)
        }
        Verb::Demo(arguments) => demo::run(arguments),
        Verb::DemoKeeper(arguments) => demo::keep(arguments),
        Verb::DemoWork(arguments) => demo::work(arguments),
        Verb::Record(arguments) => record::run(arguments),
        Verb::Run(arguments) => run::run(arguments),
        Verb::ShellHelper(arguments) => run::helper(arguments),
        Verb::Watch(arguments) => watch::run(arguments),
        Verb::Load(arguments) => load::run(arguments),
        Verb::Curve(arguments) => curve::run(arguments),
        Verb::Fleet(arguments) => fleet::run(arguments),
        Verb::FleetWorker(arguments) => fleet::work(arguments),
        Verb::Replay(arguments) => replay::run(arguments),
        Verb::Serve(arguments) => serve::run(arguments),
        Verb::Sweep(arguments) => sweep::run(arguments),
        Verb::Trace(arguments) => trace::run(arguments),
        Verb::Bench(arguments) => bench::run(arguments),
        Verb::BenchChild(_) => bench::child::run(),
        Verb::Ping(arguments) => ping::run(arguments),
        Verb::PingChild(_) => ping::child(),
        Verb::Writer(arguments) => course::write(arguments),
        Verb::Reader(arguments) => course::read(arguments),
        Verb::Memreader(arguments) => course::read_mapped(arguments),
        Verb::Unix(arguments) => unix::run(arguments),
        Verb::Doctor(arguments) => doctor::run(arguments),
        Verb::Completions(arguments) => completions::run(arguments),
        Verb::Man(arguments) => man::run(arguments),
    }
}
