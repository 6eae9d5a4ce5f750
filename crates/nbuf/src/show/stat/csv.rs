//! A shape as comma-separated values (RFC 4180): a number a row.
//!
//! `trace` is 1 for the trace and 2 for the one that it is compared with. `x` is a time, a rank or the beginning of a row;
//! `y` is the second of two places, as in heat maps. Both are empty where a property has one number.

use std::fmt::Write as _;

use nbuf::experiment::result::{
    ShapeHeat, ShapeHistogram, ShapePolicies, ShapeSeries, TraceDocument, TraceShape,
};

use super::super::text::field;

/// All rows, under one line of names.
pub(crate) fn csv(document: &TraceDocument) -> String {
    let mut out = String::from("trace,property,x,y,value\n");
    let traces = [Some(document), document.against.as_deref()];
    for (number, trace) in (1..).zip(traces.into_iter().flatten()) {
        if let Some(shape) = &trace.shape {
            Rows { out: &mut out, number }.shape(shape);
        }
    }
    out
}

struct Rows<'a> {
    out: &'a mut String,
    number: u32,
}

impl Rows<'_> {
    fn row(&mut self, property: &str, x: &str, y: &str, value: &str) {
        let fields = [property, x, y, value].map(field).join(",");
        let _ = writeln!(self.out, "{},{fields}", self.number);
    }

    fn one(&mut self, property: &str, value: impl ToString + Copy) {
        self.row(property, "", "", &value.to_string());
    }

    fn at(&mut self, property: &str, x: impl ToString + Copy, value: impl ToString + Copy) {
        self.row(property, &x.to_string(), "", &value.to_string());
    }

    fn shape(&mut self, shape: &TraceShape) {
        self.one("accesses", shape.accesses);
        self.one("distinct", shape.keys);
        self.one("compulsory_misses", shape.ceiling.compulsory_misses);
        if let Some(bytes) = shape.ceiling.compulsory_bytes {
            self.one("compulsory_bytes", bytes.0);
        }
        self.one("used_once", shape.popularity.used_once);
        if let Some(zipf) = &shape.popularity.zipf {
            self.one("zipf_exponent", zipf.exponent);
            self.one("zipf_error", zipf.error);
        }
        for point in &shape.popularity.ranks {
            self.at("accesses_by_rank", point.rank, point.accesses);
        }
        for (at, accesses) in shape.popularity.deciles.iter().enumerate() {
            self.at("accesses_by_tenth", at + 1, accesses);
        }
        self.heat("reuse_distance", &shape.reuse_distance);
        self.heat("reuse_time", &shape.reuse_time);
        if let Some(sizes) = &shape.sizes {
            self.histogram("size_bytes", &sizes.bytes);
        }
        self.histogram("lifetime", &shape.lifetimes);
        self.series("working_set", &shape.working_set);
        self.series("reads", &shape.reads);
        self.series("writes", &shape.writes);
        let runs = [("scan_accesses", shape.scans), ("first_use_run_accesses", shape.first_uses)];
        for (name, runs) in runs.into_iter().filter_map(|(name, runs)| Some((name, runs?))) {
            self.one(name, runs.accesses);
        }
        for found in shape.loops.iter().flatten() {
            self.at("loop_accesses", found.keys, found.accesses);
        }
        shape.policies.iter().for_each(|judged| self.policies(judged));
    }

    fn heat(&mut self, property: &str, heat: &ShapeHeat) {
        let rows = heat.rows.iter().map(|row| (row.from.to_string(), &row.counts));
        for (y, counts) in rows.chain([("first".to_owned(), &heat.first_uses)]) {
            for (column, count) in (0..).zip(counts).filter(|(_, count)| **count > 0) {
                let x = heat.column_width.saturating_mul(column);
                self.row(property, &x.to_string(), &y, &count.to_string());
            }
        }
    }

    fn histogram(&mut self, property: &str, histogram: &ShapeHistogram) {
        for row in &histogram.rows {
            self.at(property, row.from, row.count);
        }
    }

    fn series(&mut self, property: &str, series: &ShapeSeries) {
        for (column, value) in (0..).zip(&series.values) {
            self.at(property, series.column_width.saturating_mul(column), value);
        }
    }

    fn policies(&mut self, judged: &ShapePolicies) {
        for row in &judged.rows {
            self.at("hits", &row.policy, row.hits);
            if let Some(age) = row.eviction_age {
                self.at("eviction_age_p50", &row.policy, age.p50);
            }
        }
        for difference in &judged.differences {
            let whose = format!("{} over {}", difference.better, difference.worse);
            let lists = [
                ("points_by_pattern", &difference.by_pattern),
                ("points_by_popularity", &difference.by_popularity),
                ("points_by_distance", &difference.by_distance),
            ];
            for (property, list) in lists {
                for class in list {
                    self.row(property, &whose, &class.class, &class.points.to_string());
                }
            }
        }
    }
}
