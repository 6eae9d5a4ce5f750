//! A user: what a command asks of the disc, one request after the other.

use std::collections::VecDeque;

use super::Parameters;
use super::layout::{Layout, SECTOR_BYTES};
use crate::clock::Random;
use crate::trace::request::{Op, Request};
use crate::units::Nanos;
use crate::workload::process::{Process, Step};

/// The root directory; others are numbered by whose they are.
const ROOT: u64 = 0;
/// Before the number of a user, of a directory in the search path, or of a file: names of one kind.
const HOMES: u64 = 1 << 32;
const SEARCHED: u64 = 2 << 32;
const FILES: u64 = 3 << 32;

/// Files that a user keeps, in the order of their tracks.
const AR: u64 = 0;
const VA: u64 = 1;
const PATH: u64 = 2;
const WORK: u64 = 3;
/// The name of pipes, which are always called the same and lie elsewhere each time.
const PIPE: u64 = 4;

/// A file, as a user sees it.
#[derive(Clone, Copy, Debug)]
struct File {
    name: u64,
    /// Simple names in its path.
    names: u32,
    first: u64,
    sectors: u32,
}

/// Types one command after the other. Memory: the steps of one command.
#[derive(Clone, Debug)]
pub struct User {
    parameters: Parameters,
    layout: Layout,
    number: u64,
    random: Random,
    commands_left: u32,
    /// Loose files so far.
    loose: u64,
    steps: VecDeque<Step>,
}

impl Process for User {
    fn step(&mut self) -> Option<Step> {
        if self.steps.is_empty() && self.commands_left > 0 {
            self.commands_left -= 1;
            self.command();
        }
        self.steps.pop_front()
    }
}

impl User {
    pub(super) fn new(parameters: Parameters, layout: Layout, number: u32) -> Self {
        let number = u64::from(number);
        let mut random = Random::new(parameters.seed ^ (number + 1).rotate_left(40));
        // Users do not all come at once to the same place of the loose files.
        let loose = random.next() >> 32;
        let commands_left = parameters.commands;
        Self { parameters, layout, number, random, commands_left, loose, steps: VecDeque::new() }
    }

    fn command(&mut self) {
        let p = self.parameters;
        let think_us = u64::from(p.think_ms) * 1_000;
        let think = Nanos::from_micros(think_us / 2 + self.random.below(think_us + 1));
        self.steps.extend([Step::Think(think), Step::Begin]);
        self.search();
        self.write_file(self.kept(AR, p.ar_sectors), false);
        self.swap(Op::Write, self.layout.core(self.number), 0, p.core_sectors);
        let other = self.chance(p.other_percent).then(|| self.other());
        let pipe = self.chance(p.pipe_percent).then(|| self.pipe());
        self.begin_tool();
        self.read_file(self.kept(WORK, p.work_sectors));
        if let Some(other) = other {
            self.read_file(other);
        }
        if let Some(pipe) = pipe {
            self.write_file(pipe, true);
            self.begin_tool();
            self.read_file(pipe);
        }
        if self.chance(p.update_percent) {
            self.write(self.kept(VA, p.va_sectors));
        }
        self.swap(Op::Read, self.layout.core(self.number), 0, p.core_sectors);
        self.steps.push_back(Step::Done);
    }

    /// Reads the search path, and looks into its directories, a user's own first.
    fn search(&mut self) {
        let p = self.parameters;
        self.read_file(self.kept(PATH, p.path_sectors));
        let wanted = self.random.next();
        self.look_up(self.directory(1), wanted);
        for directory in 0..u64::from(p.search_directories) {
            self.look_up(SEARCHED + directory, wanted);
        }
    }

    /// Loads a tool, which reads its arguments and variables.
    fn begin_tool(&mut self) {
        let p = self.parameters;
        let lpr = self.layout.program(self.random.below(u64::from(p.tools)));
        self.ask(Op::Read, lpr, 0, 1);
        self.swap(Op::Read, lpr + 1, 1, p.program_sectors);
        self.read(self.kept(AR, p.ar_sectors));
        self.read_file(self.kept(VA, p.va_sectors));
    }

    /// The two accesses of a name in a directory: where it begins, and where the name is.
    fn look_up(&mut self, directory: u64, name: u64) {
        let sectors = u64::from(self.parameters.directory_sectors).max(1);
        for link in [0, 1 + name % sectors] {
            self.ask(Op::Read, self.layout.link(directory, link), 0, 1);
        }
    }

    /// Finds a file by the names in its path, of which the first is in the root directory and the others
    /// are in a user's own, then follows its links.
    fn open(&mut self, file: File) {
        for level in 0..file.names {
            let is_last = level + 1 == file.names;
            let name = if is_last { file.name } else { self.number };
            self.look_up(self.directory(level), name);
        }
        for link in 0..u64::from(self.parameters.links) {
            self.ask(Op::Read, self.layout.link(file.name, link), 0, 1);
        }
    }

    fn directory(&self, level: u32) -> u64 {
        if level == 0 { ROOT } else { HOMES + (self.number << 8) + u64::from(level) }
    }

    fn read_file(&mut self, file: File) {
        self.open(file);
        self.read(file);
    }

    /// Reads a file that is open, from its beginning to its end.
    fn read(&mut self, file: File) {
        for position in 0..file.sectors {
            self.ask(Op::Read, file.first + u64::from(position), position, 1);
        }
    }

    /// Writes a file and ends it; a new one is ended once before, when it is created.
    fn write_file(&mut self, file: File, is_new: bool) {
        self.open(file);
        if is_new {
            self.ask(Op::Write, file.first, 0, 0);
        }
        self.write(file);
    }

    /// Writes a file that is open, and ends it.
    fn write(&mut self, file: File) {
        for position in 0..file.sectors {
            self.ask(Op::Write, file.first + u64::from(position), position, 1);
        }
        self.ask(Op::Write, file.first + u64::from(file.sectors), file.sectors, 0);
    }

    fn kept(&self, number: u64, sectors: u32) -> File {
        let name = FILES + (self.number << 24) + number;
        let first = self.layout.home(self.number, number);
        File { name, names: self.parameters.names, first, sectors }
    }

    /// A file that was not read for long.
    fn other(&mut self) -> File {
        let Parameters { other_names: names, other_sectors: sectors, .. } = self.parameters;
        let first = self.loose_track();
        File { name: FILES + (self.number << 48) + self.loose, names, first, sectors }
    }

    fn pipe(&mut self) -> File {
        let sectors = self.parameters.pipe_sectors;
        File { first: self.loose_track(), ..self.kept(PIPE, sectors) }
    }

    fn loose_track(&mut self) -> u64 {
        self.loose += 1;
        self.layout.loose(self.number, self.loose)
    }

    fn chance(&mut self, percent: u32) -> bool {
        self.random.below(100) < u64::from(percent)
    }

    /// A program or a core, in one request; nothing where it is empty.
    fn swap(&mut self, op: Op, sector: u64, position: u32, sectors: u32) {
        if sectors > 0 {
            self.ask(op, sector, position, sectors);
        }
    }

    /// A write of no sectors ends a file.
    fn ask(&mut self, op: Op, sector: u64, position: u32, sectors: u32) {
        self.steps.push_back(Step::Compute(Nanos::from_micros(self.parameters.compute_us.into())));
        let request = Request::new(op, sector * SECTOR_BYTES, u64::from(sectors) * SECTOR_BYTES);
        self.steps.push_back(Step::Request(Request { position, ..request }));
    }
}
