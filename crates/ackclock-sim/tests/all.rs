//! The tests of the engine: one program, because compiling and linking each file by itself takes longer.

mod abe;
mod applications;
mod bbr3;
mod columns;
mod common;
mod copa;
mod curves;
mod dualpi2;
mod environment;
mod events;
mod illinois;
mod ledbat;
mod linux;
mod long_paths;
mod marking;
mod ns2;
mod ns2_lossy;
mod ns2_several;
mod own_control;
mod prague;
mod properties;
mod receivers;
mod reno_theory;
mod responses;
mod tfrc_2000;
mod vivace;
