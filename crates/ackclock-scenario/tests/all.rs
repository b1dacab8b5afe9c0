//! The tests of scenarios: one program, because compiling and linking each file by itself takes longer.

mod buffers;
mod common;
mod complete;
mod digests;
mod files;
mod paths;
mod reading;
mod refusals;
mod refusals_flows;
mod refusals_links;
mod series;
