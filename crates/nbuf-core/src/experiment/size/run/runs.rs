//! The second half of `size`: asks whether to run the command again, and runs it in random order.

use std::collections::HashSet;
use std::fs::File;
use std::os::fd::AsFd;
use std::time::Duration;

use super::Subject;
use super::{Analysis, Error};
use crate::clock::Random;
use crate::experiment::notice::{Notice, Question, Streams};
use crate::experiment::predict::Prediction;
use crate::experiment::result::Verified;
use crate::experiment::verify::{self, Bench};
use crate::sys::cgroup::Throttle;
use crate::units::Bytes;
use crate::workload::command;

impl Subject<'_> {
    /// Makes the runs, as many as the user, the time and signals allow.
    pub(super) fn verify(&self, analysis: &Analysis) -> Result<Vec<Verified>, Error> {
        if !self.verifies() || self.interrupted().is_some() {
            return Ok(Vec::new());
        }
        if analysis.recommend.is_none() && self.spec.verify_at.is_empty() {
            return Ok(Vec::new());
        }
        if self.used_terminal && !self.spec.agreed {
            self.notice(&Notice::TerminalUsed);
            return Ok(Vec::new());
        }
        if let Some(why) = analysis.is_beyond(self.meter) {
            self.notice(&Notice::FillsUncounted(&why));
            return Ok(Vec::new());
        }
        let plan = self.plan(analysis);
        if !self.go_on(&plan, analysis)? {
            if self.interrupted().is_none() {
                self.notice(&Notice::VerificationDeclined);
            }
            return Ok(Vec::new());
        }
        let mut runs = self.measure(&self.rounds(&plan), analysis);
        // A miss that the next run takes back is none.
        while self.spec.samples == 1 && !self.is_over() {
            let mut again = self.doubted(&plan, &runs, analysis);
            again.truncate(self.spec.runs_max().saturating_sub(runs.len()));
            if again.is_empty() {
                break;
            }
            let more = self.measure(&again, analysis);
            let is_last = more.len() < again.len();
            runs.extend(more);
            if is_last {
                break;
            }
        }
        Ok(gather(&plan, &runs, analysis))
    }

    /// What is to be verified.
    fn plan(&self, analysis: &Analysis) -> Vec<Prediction> {
        let spec = self.spec;
        let mut plan = analysis.plan(&spec.verify_at);
        // A limit that was asked for twice, perhaps in other words, is run once.
        let mut seen = HashSet::new();
        plan.retain(|prediction| seen.insert(prediction.limit));
        if spec.verify_at.is_empty() {
            plan.truncate(spec.runs_max());
        }
        if spec.is_timed() && spec.may_search() {
            // The search tries limits of its own, and begins without one.
            plan.truncate(1);
        }
        plan
    }

    /// Whether no further run may be made.
    pub(super) fn is_over(&self) -> bool {
        self.interrupted().is_some() || self.time_left() == Some(Duration::ZERO)
    }

    /// The predictions that missed and may hold in another run, each as often as it takes to know.
    fn doubted(
        &self,
        plan: &[Prediction],
        runs: &[Verified],
        analysis: &Analysis,
    ) -> Vec<Prediction> {
        let mut again = Vec::new();
        for run in gather(plan, runs, analysis) {
            let missing = verify::runs_missing(&run);
            let same = plan.iter().find(|prediction| prediction.limit == run.limit_bytes);
            again.extend(same.into_iter().flat_map(|same| vec![*same; missing]));
        }
        Random::new(self.session.seed).shuffle(&mut again);
        again
    }

    fn go_on(&self, plan: &[Prediction], analysis: &Analysis) -> Result<bool, Error> {
        let limits: Vec<(Bytes, bool)> = plan
            .iter()
            .filter_map(|prediction| prediction.limit)
            .map(|limit| (limit, !analysis.is_below_floor(limit)))
            .collect();
        let facts = &analysis.facts;
        self.agrees(&Question::Verify {
            runs: plan.len() * usize::from(self.spec.samples),
            samples: self.spec.samples,
            limits: &limits,
            run: Duration::from_nanos(facts.run_ns().unwrap_or(facts.elapsed_ns)),
            is_timed: facts.timed.is_some(),
            streams: self.streams(),
        })
    }

    /// Whether the user agrees.
    pub(super) fn agrees(&self, question: &Question<'_>) -> Result<bool, Error> {
        let session = self.session;
        let agrees = session.observer.agrees(question, &session.cancellation);
        let agrees = agrees.map_err(Error::Observer)?;
        // A signal may have come before the answer.
        if !agrees {
            session.cancellation.poll();
        }
        Ok(agrees)
    }

    /// What further runs read and write.
    pub(super) fn streams(&self) -> Streams {
        let output = command::repeating(self.session.output.stream().as_fd());
        let metadata = output.and_then(|output| File::from(output).metadata());
        let to_file = metadata.is_ok_and(|metadata| metadata.is_file());
        Streams { input: self.input, used_terminal: self.used_terminal, to_file }
    }

    /// Every size once a round, in an order of its own: whatever the machine does meanwhile falls on
    /// all sizes alike, and when the time is up none has been left out.
    fn rounds(&self, plan: &[Prediction]) -> Vec<Prediction> {
        let mut random = Random::new(self.session.seed);
        let mut rounds = Vec::new();
        for _ in 0..self.spec.samples {
            let mut round = plan.to_vec();
            random.shuffle(&mut round);
            rounds.extend(round);
        }
        rounds
    }

    /// Makes the runs. A failure of ours ends them and is reported; those already made stay.
    fn measure(&self, plan: &[Prediction], analysis: &Analysis) -> Vec<Verified> {
        let observer = self.session.observer;
        let throttle = self.throttle(analysis);
        let output = self.session.output.stream();
        let bench = Bench {
            command: &self.command,
            files: &analysis.names,
            hierarchies: &self.hierarchies,
            throttle: throttle.as_ref(),
            until: self.spec.until,
            input: self.input,
            output: output.as_fd(),
            meter: self.meter,
            cliffs: &analysis.cliffs,
            shared_text: analysis.memory.shared_text_bytes,
            left_pages: usize::try_from(analysis.shared.pages_up().0).unwrap_or(0),
        };
        let of = plan.len();
        observer.progress("verifying", 0, of);
        let mut runs = Vec::new();
        for (at, prediction) in plan.iter().enumerate() {
            observer.progress("verifying", at, of);
            if self.time_left() == Some(Duration::ZERO) {
                self.notice(&Notice::TimeUp { done: runs.len(), of });
                break;
            }
            if let Err(error) = self.prepare() {
                observer.failure(&error);
                break;
            }
            if self.session.cancellation.poll().is_some() {
                break;
            }
            let allowed = self.time_for(prediction, analysis);
            match bench.measure(prediction, Some(allowed), self.signals) {
                Ok((verified, ended)) => {
                    self.note(&ended);
                    if ended.interrupted.is_some() {
                        break;
                    }
                    self.notice(&Notice::RunEnded(&verified));
                    runs.push(verified);
                }
                Err(error @ verify::Error::Limit { .. }) => {
                    self.notice(&Notice::LimitRefused(&error));
                }
                Err(error) => {
                    observer.failure(&error);
                    break;
                }
            }
        }
        observer.stage_over();
        if self.session.cancellation.poll().is_some() {
            self.notice(&Notice::RunsInterrupted { done: runs.len(), of });
        }
        runs
    }

    /// What holds the discs of verified runs to the rate of the spec.
    pub(super) fn throttle(&self, analysis: &Analysis) -> Option<Throttle> {
        let rate = self.spec.rate;
        let devices = analysis.facts.devices.iter().map(|d| (d.major, d.minor)).collect();
        let (iops, bytes_per_second) = (rate.iops, rate.bytes_per_second);
        rate.is_some().then_some(Throttle { devices, iops, bytes_per_second })
    }

    /// How long a run may take to verify a prediction.
    fn time_for(&self, prediction: &Prediction, analysis: &Analysis) -> Duration {
        let recorded = Duration::from_nanos(analysis.facts.elapsed_ns);
        let usual = || verify::time_allowed(prediction, recorded, self.spec.run_time_min());
        self.time_left().unwrap_or_else(usual)
    }
}

/// What the runs under each limit come to together.
fn gather(plan: &[Prediction], runs: &[Verified], analysis: &Analysis) -> Vec<Verified> {
    let mut limits: Vec<_> = plan.iter().map(|prediction| prediction.limit).collect();
    limits.sort_unstable();
    let of = |limit| {
        let same: Vec<Verified> =
            runs.iter().filter(|run| run.limit_bytes == limit).cloned().collect();
        verify::combine(&same, &analysis.cliffs)
    };
    limits.into_iter().filter_map(of).collect()
}
