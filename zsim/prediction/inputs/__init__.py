"""inputs: what is simulated: worlds, hardware, populations, clients."""
