"""Other tools, each a module that runs in an environment of its own: it may import nothing of rightcall."""
