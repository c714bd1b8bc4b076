"""An agent that serves MCP, as a program on its standard streams or as an application for a server of HTTP."""

from __future__ import annotations

from typing import Any

from mcp.server import MCPServer

server: MCPServer[Any] = MCPServer("refunds", log_level="CRITICAL")


@server.tool()
def ask(prompt: str) -> dict[str, Any]:
    """Give a reply with calls."""
    return {"output": f"done: {prompt}", "tool_calls": [{"name": "lookup_order", "arguments": {"order_id": 42}}]}


@server.tool()
def say(prompt: str) -> str:
    """Give text."""
    return f"done: {prompt}"


@server.tool()
def fail(prompt: str) -> str:
    """Fail."""
    from mcp.server.mcpserver.exceptions import ToolError

    raise ToolError(f"no stock for {prompt}")


if __name__ == "__main__":
    server.run()
