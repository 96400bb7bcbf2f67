"""prediction: from a scenario to an answer: ensemble, interval, bottleneck, breakdown, wording."""
