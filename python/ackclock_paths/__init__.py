"""What was measured on real paths: in the kernel, and over days."""
