//! The part of the Python package `nbuf` that calls the library.
//!
//! A verb takes its spec as JSON, and gives the document that `nbuf VERB --json` prints. The functions that
//! people call are in `python/nbuf`.

#[expect(unsafe_code, reason = "memory of other libraries is read here and nowhere else")]
mod sys;

mod checks;
mod columns;
mod errors;
mod fleet;
mod frame;
mod requests;
mod roles;
mod rows;
mod tables;
mod verbs;
mod watch;

use pyo3::prelude::*;

#[pymodule]
mod _nbuf {
    #[pymodule_export]
    use crate::fleet::{
        fleet_allocate, fleet_give_up, fleet_left, fleet_local, fleet_merge, fleet_plan,
        fleet_reduce, fleet_serve, fleet_tasks, fleet_work,
    };
    #[pymodule_export]
    use crate::frame::Frame;
    #[pymodule_export]
    use crate::sys::Numbers;
    #[pymodule_export]
    use crate::tables::{discs, formats, objects, patterns, policies, size};
    #[pymodule_export]
    use crate::verbs::{Table, distances, rows, run};
    use pyo3::prelude::*;

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        module.add("__version__", env!("CARGO_PKG_VERSION"))
    }
}
