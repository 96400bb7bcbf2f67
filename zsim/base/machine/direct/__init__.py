"""Kernels straight from their text to LLVM's code: the plain Python that they are written in, and no more.

numba infers types through a hundred passes and look-ups, 40 ms a function; kernels need next to none of that.
What is not known here (`UntranslatableError` is raised) numba compiles, to the same results.
"""
