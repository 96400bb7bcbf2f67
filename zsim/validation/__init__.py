"""Predictions held against measurements, case by case, each claim with a stated tolerance."""
