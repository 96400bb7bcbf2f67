"""When a running scan is over: its own finish time beside zpool's, with the reasons."""
