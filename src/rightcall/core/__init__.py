"""The pure core: values, calls, patterns, pairing, verdicts, results. No I/O, no clock, no randomness."""
