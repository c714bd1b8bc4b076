"""The HTTP server: `rightcall serve`. `app.create` makes the application, `serving.serve` runs it."""
