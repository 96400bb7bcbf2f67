"""base: the ground floor: units, errors, files, compiled kernels, provenance."""
