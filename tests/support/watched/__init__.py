"""Real agents under real instrumentations, in a process of their own."""
