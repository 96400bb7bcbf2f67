"""How long it takes: one question, several side by side, many over ranges, an old answer derived again."""
