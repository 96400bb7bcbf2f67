"""reference: the data plane in SimPy, to be read; file beside file with `zsim.engine.compiled.plane`."""
