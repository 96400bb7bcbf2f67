"""physics: how long a command takes: scalar equations that both engines call."""
