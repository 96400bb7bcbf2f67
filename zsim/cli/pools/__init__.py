"""Commands about an existing pool: eta, decide, timeline, tune, import."""
