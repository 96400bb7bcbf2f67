"""Pools by the hundred over years: losses, spares, repair crews, hours of degraded service."""
