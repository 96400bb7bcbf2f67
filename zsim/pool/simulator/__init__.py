"""simulator: the compiled history: writes, frees, metaslabs, transaction groups."""
