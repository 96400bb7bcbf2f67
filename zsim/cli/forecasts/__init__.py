"""Commands that predict resilver times: predict, compare, sweep, rerun, scenario."""
