"""Compiled kernels as machine code: made, kept, and called without numba."""
