"""Measurements on real paths: traces of the kernel's TCP, and campaigns over days."""
