"""models: what is known of a drive or a link: numbers with their sources."""
