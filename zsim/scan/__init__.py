"""scan: which block comes next: traversal, sorted queues, sequential rebuild."""
