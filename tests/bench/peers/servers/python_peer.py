"""The query tool on the Python SDK, or on fastmcp where that is installed: DATABASE [PORT]."""

import sqlite3
import sys

try:
    from fastmcp import FastMCP as Server

    fast = True
except ImportError:
    from mcp.server import MCPServer as Server

    fast = False

server = Server("peer")
connection = sqlite3.connect(f"file:{sys.argv[1]}?mode=ro", uri=True, check_same_thread=False)


@server.tool()
def query(sql: str, params: list | None = None, limit: int = 100) -> dict:
    """Read with one statement."""
    cursor = connection.execute(sql, params or [])
    rows = cursor.fetchmany(limit)
    return {"columns": [column[0] for column in cursor.description], "rows": rows, "truncated": False}


@server.tool()
def add(a: int, b: int) -> int:
    """Add two numbers."""
    return a + b


if len(sys.argv) == 2:
    server.run(**({"show_banner": False} if fast else {}))
elif fast:
    server.run(
        transport="http", host="127.0.0.1", port=int(sys.argv[2]), stateless_http=True, json_response=True,
        show_banner=False, log_level="error", uvicorn_config={"access_log": False},
    )  # fmt: skip
else:
    import uvicorn

    app = server.streamable_http_app(stateless_http=True, json_response=True)
    uvicorn.run(app, host="127.0.0.1", port=int(sys.argv[2]), log_level="error", access_log=False)
