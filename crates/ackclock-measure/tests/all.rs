//! The tests of campaigns: one program, because compiling and linking each file by itself takes longer.

mod abuse;
mod beginning;
mod campaign;
mod conversation;
#[path = "../../../tests/deadline.rs"]
mod deadline;
mod directory;
mod door;
mod integrity;
mod quic;
mod relay;
mod running;
mod stand;
