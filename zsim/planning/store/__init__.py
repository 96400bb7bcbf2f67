"""Answers that outlive the process that found them: one SQLite file, merged, exported, resumed."""
