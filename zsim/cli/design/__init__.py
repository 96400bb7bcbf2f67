"""Commands for planning a pool: plan, risk, fleet."""
