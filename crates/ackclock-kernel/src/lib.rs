//! The congestion controls of ackclock for the Linux kernel's TCP.
//!
//! Each is one C file in `bpf/`, in fixed point, that loads into the kernel as an eBPF `struct_ops` program.
//! The same source compiled for this machine is a [`twin`]: a control like any other, so that the very
//! arithmetic of the kernel can be held against the control in Rust, and simulated as `NAME@kernel`.

#[cfg(feature = "load")]
pub mod kernel;
#[cfg(feature = "load")]
pub mod trace;
pub mod twin;
