"""Ask a pool on this host: read-only commands, run here or by a script."""
