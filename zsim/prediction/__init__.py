"""Scenario to Prediction: ensemble, interval, bottleneck, breakdown, and the answer in words."""
