"""store: answers that are kept in a file, so that sweeps can be resumed, merged and exported."""
