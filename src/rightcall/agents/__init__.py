"""Agents that run in this process: what they call is captured from their OpenTelemetry spans."""
