"""A pool that exists: what it prints, when it is done, what becomes of it, what to do now."""
