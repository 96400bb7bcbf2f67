"""reference: the data plane in SimPy, to be read; file by file as `zsim.engine.compiled`."""
