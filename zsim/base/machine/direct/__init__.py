"""Translate kernels from their source text to LLVM's code, for the part of Python that kernels use.

numba infers types through a hundred passes and look-ups, 40 ms a function; kernels need next to none of that.
What is not known here (`UntranslatableError` is raised) numba compiles, to the same results.
"""
