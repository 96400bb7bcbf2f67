"""fleet: many pools over years: losses, spares, repair crews, degraded hours."""
