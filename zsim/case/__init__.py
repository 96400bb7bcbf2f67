"""The case: a scenario with nothing left open and every name replaced by what it names."""
