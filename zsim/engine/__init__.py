"""engine: when each I/O starts and ends: queues, drives, links; compiled, and in SimPy for reference."""
