//! How long a disc takes for a request, from samples: so much, and so much more a page.
//!
//! A line through the medians of the sizes that were seen, because service times have a long tail and
//! one slow request says nothing about the next. For a disc with one queue; what a device does in
//! parallel is not in it.

/// One request that a task waited for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sample {
    /// Its size.
    pub pages: u32,
    /// From asking to having it.
    pub ns: u64,
}

/// The line.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Service {
    /// For a request, whatever its size.
    pub request_ns: f64,
    /// For each page of it.
    pub page_ns: f64,
}

/// Fewer samples than this say nothing.
const SAMPLES_MIN: usize = 48;
/// A median of fewer is none.
const CLASS_MIN: usize = 3;

impl Service {
    /// Through samples; nothing where there are too few.
    pub fn fit(samples: &[Sample]) -> Option<Self> {
        if samples.len() < SAMPLES_MIN {
            return None;
        }
        // Classes by powers of two of their size: mean size, median time, weight.
        let mut points: Vec<(f64, f64, f64)> = Vec::new();
        for class in 0..u32::BITS {
            let of = |sample: &&Sample| sample.pages.max(1).ilog2() == class;
            let mut times: Vec<u64> = samples.iter().filter(of).map(|sample| sample.ns).collect();
            if times.len() < CLASS_MIN {
                continue;
            }
            times.sort_unstable();
            let pages: u64 = samples.iter().filter(of).map(|sample| u64::from(sample.pages)).sum();
            let count = times.len() as f64;
            points.push((pages as f64 / count, times[times.len() / 2] as f64, count.sqrt()));
        }
        let weight: f64 = points.iter().map(|point| point.2).sum();
        if weight == 0.0 {
            return None;
        }
        let mean = |of: fn(&(f64, f64, f64)) -> f64| {
            points.iter().map(|point| of(point) * point.2).sum::<f64>() / weight
        };
        let (x, y) = (mean(|point| point.0), mean(|point| point.1));
        let spread = mean(|point| point.0 * point.0) - x * x;
        let slope =
            if spread > 0.0 { (mean(|point| point.0 * point.1) - x * y) / spread } else { 0.0 };
        let page_ns = slope.clamp(0.0, y / x.max(1.0));
        Some(Self { request_ns: y - page_ns * x, page_ns })
    }

    /// For one request.
    pub fn of_pages(&self, pages: u32) -> f64 {
        self.request_ns + self.page_ns * f64::from(pages)
    }

    /// For many, one after the other.
    pub fn total_ns(&self, requests: u64, pages: u64) -> f64 {
        self.request_ns * requests as f64 + self.page_ns * pages as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_found_among_outliers() {
        let time = |pages: u32| u64::from(50_000 + 2_000 * pages);
        let mut samples: Vec<Sample> = (0..200)
            .map(|at| [1, 4, 32, 256][at % 4])
            .map(|pages| Sample { pages, ns: time(pages) })
            .collect();
        for sample in samples.iter_mut().step_by(7) {
            sample.ns *= 20;
        }
        let service = Service::fit(&samples).unwrap();
        assert!((service.request_ns - 50_000.0).abs() < 500.0, "{service:?}");
        assert!((service.page_ns - 2_000.0).abs() < 20.0, "{service:?}");
    }

    #[test]
    fn one_size_gives_a_time_and_few_samples_nothing() {
        let samples = vec![Sample { pages: 1, ns: 60_000 }; 60];
        let service = Service::fit(&samples).unwrap();
        assert!((service.of_pages(1) - 60_000.0).abs() < 1.0 && service.page_ns < 1.0);
        assert_eq!(Service::fit(&samples[..30]), None);
    }
}
