"""A scan that runs: what possible worlds would show over time, and what its own progress says of its end."""
