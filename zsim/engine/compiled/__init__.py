"""compiled: the data plane as kernels; each file has a counterpart in `zsim.engine.reference`."""
