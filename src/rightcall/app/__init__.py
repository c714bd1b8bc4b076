"""The use cases, and all that they need of files, engines and installed extensions."""
