//! The inside of the library, for the tests, benches and examples of this repository.
//!
//! No version promises any of it. `sys` is here so that a test can end a process or refuse a call;
//! the other rooms, so that a bench can measure one part alone.

pub mod cache {
    pub mod engine {
        pub use crate::cache::engine::*;
    }
    pub mod interner {
        pub use crate::cache::interner::*;
    }
    pub mod kernel {
        pub use crate::cache::kernel::*;
    }
    pub mod max_iv {
        pub use crate::cache::max_iv::*;
    }
}

pub mod clock {
    pub use crate::clock::*;
}

pub mod disc {
    pub mod description {
        pub use crate::disc::description::*;
    }
    pub mod measured {
        pub use crate::disc::measured::*;
    }
    pub mod model {
        pub use crate::disc::model::*;
        pub mod drive {
            pub use crate::disc::model::drive::*;
        }
    }
    #[cfg(feature = "paths")]
    pub mod nbd {
        pub use crate::disc::nbd::client::chunk_of_read;
    }
}

pub mod meter {
    pub mod distance {
        pub use crate::meter::distance::*;
    }
    pub mod sampled {
        pub use crate::meter::sampled::*;
    }
    #[cfg(feature = "system")]
    pub mod residency {
        pub use crate::meter::probe::residency::*;
    }
}

pub mod census {
    pub use crate::experiment::census::*;
}

#[cfg(feature = "paths")]
pub mod path {
    pub use crate::path::*;
    pub mod data {
        pub use crate::path::data::*;
    }
    pub mod nbd {
        pub use crate::path::nbd::{
            Credentials, CredentialsError, Export, Handshake, Layer, RECORD_BYTES_MAX, Secrecy,
            Step,
        };
    }
    pub mod wake {
        pub use crate::path::wake::*;
    }
}

#[cfg(all(feature = "capture", feature = "paths"))]
pub mod serve {
    pub use crate::experiment::serve::state::{Held, Identity, List};
}

#[cfg(feature = "capture")]
pub mod size {
    pub use crate::experiment::size::curve::draw;
}

#[cfg(feature = "system")]
pub mod sys {
    pub mod bpf {
        pub use crate::sys::bpf::ids::*;
    }
    pub mod cache {
        pub use crate::sys::cache::*;
    }
    pub mod calls {
        pub use crate::sys::calls::*;
    }
    pub mod cgroup {
        pub use crate::sys::cgroup::*;
    }
    pub mod process {
        pub use crate::sys::process::*;
    }
    pub mod seccomp {
        pub use crate::sys::seccomp::*;
    }
    pub mod signal {
        pub use crate::sys::signal::*;
    }
}

pub mod workload {
    #[cfg(feature = "capture")]
    pub mod command {
        pub use crate::workload::command::*;
    }
    #[cfg(feature = "capture")]
    pub mod observe {
        use crate::workload::observe::programs::record::decode;
        use crate::workload::record::btf::Btf;

        /// How many things a record of the programs of `nbuf run` says.
        pub fn things_in(record: &[u8]) -> usize {
            let mut seen = Vec::new();
            decode(record, &mut seen);
            seen.len()
        }

        /// Where members of a kernel's structures are, by its description; those that it has.
        pub fn members_in(description: &[u8], members: &[(&str, &str)]) -> Vec<u64> {
            let names: Vec<&str> = members.iter().map(|(structure, _)| *structure).collect();
            let found =
                [Btf::parse, Btf::parse_until_found].map(|parse| parse(description, &names));
            let offsets = found.iter().flatten().flat_map(|btf| {
                members.iter().filter_map(|(structure, member)| btf.offset(structure, member))
            });
            offsets.collect()
        }
    }
    #[cfg(feature = "capture")]
    pub mod record {
        pub use crate::workload::record::*;
        pub mod calls {
            pub use crate::workload::record::calls::*;
        }
        pub mod events {
            pub use crate::workload::record::events::*;
        }
        pub mod log {
            pub use crate::workload::record::log::*;
        }
        pub mod mounted {
            pub use crate::workload::record::mounted::*;
        }
        pub mod names {
            pub use crate::workload::record::names::*;
        }
        pub mod perf {
            pub use crate::workload::record::perf::*;
        }
        pub mod traced {
            pub use crate::workload::record::traced::*;
        }
        pub mod writes {
            pub use crate::workload::record::writes::*;
        }
    }
    pub mod pages {
        pub use crate::workload::pages::*;
    }
}
