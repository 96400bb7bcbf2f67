"""scan: in which order blocks are visited: traversal, sorted queues, sequential rebuild."""
