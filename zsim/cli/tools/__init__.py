"""What answers rest on: drive models, block populations, traces, validation, compiled kernels."""
