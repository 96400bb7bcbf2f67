"""given: recognise files and texts about a pool; assumptions for the parts that are not shown."""
