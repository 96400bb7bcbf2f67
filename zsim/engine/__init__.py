"""engine: time passes here: leaf queues, drives, links, txgs; compiled, and a reference in SimPy."""
