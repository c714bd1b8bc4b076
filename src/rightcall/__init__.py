"""rightcall: did the agent make the right tool calls?"""

__version__ = "0.1.0"
