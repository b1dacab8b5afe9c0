//! The tests of the controls: one program, because compiling and linking each file by itself takes longer.

mod bbr;
mod common;
mod contract;
mod delay_based;
mod delays;
mod edges;
mod erased;
mod library;
mod marks;
mod searching;
mod targets;
mod vectors;
mod yardsticks;
