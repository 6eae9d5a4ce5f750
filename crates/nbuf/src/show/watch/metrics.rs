//! Intervals of `nbuf watch` as `OpenMetrics`: counters that grow from interval to interval, and gauges of the last.
//!
//! Source: the `OpenMetrics` specification, version 1.0. Names begin with `nbuf_`, and end with their unit.

mod families;

use std::fmt;

use nbuf::experiment::result::{WatchDocument, WatchTimes};
use prometheus_client::collector::Collector;
use prometheus_client::encoding::{self, DescriptorEncoder, EncodeMetric, NoLabelSet};
use prometheus_client::metrics::MetricType;
use prometheus_client::metrics::counter::ConstCounter;
use prometheus_client::metrics::gauge::ConstGauge;
use prometheus_client::registry::{Registry, Unit};

/// Ends of the buckets of a histogram: 1, 2 and 5 of each power of ten. Each is the end of a step of the document.
const BUCKETS_SECONDS: [f64; 22] = [
    1e-6, 2e-6, 5e-6, 1e-5, 2e-5, 5e-5, 1e-4, 2e-4, 5e-4, 1e-3, 2e-3, 5e-3, 1e-2, 2e-2, 5e-2, 0.1,
    0.2, 0.5, 1.0, 2.0, 5.0, 10.0,
];

/// Names and values of labels.
pub(in crate::show) type Labels = Vec<(&'static str, String)>;
/// Values, each with its labels.
pub(in crate::show) type Values = Vec<(Labels, Value)>;

/// A value, with what the next interval does to it.
#[derive(Clone, Debug)]
pub(in crate::show) enum Value {
    /// Grows.
    Counter(f64),
    /// Is replaced.
    Gauge(f64),
    /// Grows: counts of each bucket and beyond the last, and the sum.
    Histogram(Vec<u64>, f64),
}

/// Values with one name.
#[derive(Clone, Debug)]
pub(in crate::show) struct Family {
    pub(in crate::show) name: &'static str,
    pub(in crate::show) unit: Option<Unit>,
    pub(in crate::show) help: &'static str,
    pub(in crate::show) values: Values,
}

/// A family that gets its values by [`Family::of`].
pub(in crate::show) fn plain(name: &'static str, help: &'static str) -> Family {
    Family { name, unit: None, help, values: Values::new() }
}

/// The unit becomes the end of the name.
pub(in crate::show) fn seconds(name: &'static str, help: &'static str) -> Family {
    Family { unit: Some(Unit::Seconds), ..plain(name, help) }
}

pub(in crate::show) fn bytes(name: &'static str, help: &'static str) -> Family {
    Family { unit: Some(Unit::Bytes), ..plain(name, help) }
}

pub(in crate::show) fn ratio(name: &'static str, help: &'static str) -> Family {
    Family { unit: Some(Unit::Other("ratio".to_owned())), ..plain(name, help) }
}

/// A counter without labels.
pub(in crate::show) fn counted(count: u64) -> Values {
    vec![(Vec::new(), Value::Counter(count as f64))]
}

/// A gauge without labels.
pub(in crate::show) fn now(value: f64) -> Values {
    vec![(Vec::new(), Value::Gauge(value))]
}

/// All intervals so far.
#[derive(Debug, Default)]
pub(crate) struct Metrics {
    families: Vec<Family>,
}

impl Metrics {
    /// Adds an interval.
    pub(crate) fn take(&mut self, interval: &WatchDocument) {
        let mut families = families::of(interval);
        for before in &self.families {
            match families.iter_mut().find(|family| family.name == before.name) {
                Some(family) => family.follows(before),
                // What this interval has no figure of.
                None => families.push(before.without_gauges()),
            }
        }
        self.families = families;
    }

    /// The text that is scraped.
    pub(crate) fn text(&self) -> String {
        text(self.families.clone())
    }
}

/// Families as text.
pub(in crate::show) fn text(families: Vec<Family>) -> String {
    let mut registry = Registry::with_prefix("nbuf");
    registry.register_collector(Box::new(Families(families)));
    let mut written = String::new();
    // A string takes all.
    let _ = encoding::text::encode(&mut written, &registry);
    written
}

impl Family {
    pub(in crate::show) fn of(self, values: Values) -> Self {
        Self { values, ..self }
    }

    /// Adds the counters of the interval before.
    fn follows(&mut self, before: &Self) {
        for (labels, value) in &before.values {
            match self.values.iter_mut().find(|(known, _)| known == labels) {
                Some((_, now)) => now.follows(value),
                // A disc that did nothing keeps its counters.
                None if !matches!(value, Value::Gauge(_)) => {
                    self.values.push((labels.clone(), value.clone()));
                }
                None => {}
            }
        }
    }

    fn without_gauges(&self) -> Self {
        let mut family = self.clone();
        family.values.retain(|(_, value)| !matches!(value, Value::Gauge(_)));
        family
    }
}

impl Value {
    fn follows(&mut self, before: &Self) {
        match (self, before) {
            (Self::Counter(now), Self::Counter(before)) => *now += before,
            (Self::Histogram(now, sum), Self::Histogram(before, before_sum)) => {
                now.iter_mut().zip(before).for_each(|(now, before)| *now += before);
                *sum += before_sum;
            }
            _ => {}
        }
    }

    /// A histogram of what the document has in steps.
    pub(in crate::show) fn histogram(times: &WatchTimes) -> Self {
        let steps = times.steps.iter().map(|step| (step.to, step.count));
        Self::of_steps(steps, times.mean_seconds.unwrap_or(0.0) * times.count as f64)
    }

    /// A histogram of steps by their ends, and the sum of all.
    pub(in crate::show) fn of_steps(steps: impl Iterator<Item = (f64, u64)>, sum: f64) -> Self {
        let mut counts = vec![0; BUCKETS_SECONDS.len() + 1];
        for (to, count) in steps {
            let holds = |end: &f64| to <= end * (1.0 + 1e-9);
            let at = BUCKETS_SECONDS.iter().position(holds).unwrap_or(BUCKETS_SECONDS.len());
            counts[at] += count;
        }
        Self::Histogram(counts, sum)
    }

    fn kind(&self) -> MetricType {
        match self {
            Self::Counter(_) => MetricType::Counter,
            Self::Gauge(_) => MetricType::Gauge,
            Self::Histogram(..) => MetricType::Histogram,
        }
    }

    fn encode(&self, mut into: encoding::MetricEncoder<'_>) -> Result<(), fmt::Error> {
        match self {
            Self::Counter(value) => ConstCounter::new(*value).encode(into),
            Self::Gauge(value) => ConstGauge::new(*value).encode(into),
            Self::Histogram(counts, sum) => {
                let ends = BUCKETS_SECONDS.iter().copied().chain([f64::INFINITY]);
                let buckets: Vec<(f64, u64)> = ends.zip(counts.iter().copied()).collect();
                let count = counts.iter().sum();
                into.encode_histogram::<NoLabelSet>(*sum, count, &buckets, None)
            }
        }
    }
}

/// What the registry asks when it is written.
#[derive(Debug)]
struct Families(Vec<Family>);

impl Collector for Families {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> Result<(), fmt::Error> {
        for family in &self.0 {
            let Some((_, first)) = family.values.first() else { continue };
            let Family { name, unit, help, values } = family;
            let kind = first.kind();
            let mut metric = encoder.encode_descriptor(name, help, unit.as_ref(), kind)?;
            for (labels, value) in values {
                value.encode(metric.encode_family(&labels.as_slice())?)?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
