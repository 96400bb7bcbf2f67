"""compiled: the data plane as kernels; file beside file with `zsim.engine.reference.plane`."""
