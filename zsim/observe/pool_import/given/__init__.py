"""given: files and texts about a pool, recognised by what is in them; what is taken for parts not shown."""
