"""case: the resolved scenario: every value filled in, every name replaced by the object it stands for."""
