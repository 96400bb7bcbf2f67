"""Block traces: one reader (and writer) a format, all giving the same `trace.Trace`."""
