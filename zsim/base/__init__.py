"""base: what every room uses: units, errors, files, compiled kernels, provenance."""
