"""How databases of one version become those of the next: one module each, in `versions`, found by its number."""
