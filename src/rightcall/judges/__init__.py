"""Asking a model: what it is told, how it is reached, and what is kept of its answers."""
