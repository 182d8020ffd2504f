"""One session with the Python SDK; prints what came of it, a line each."""

import contextlib
import json
import sys

import anyio
import httpx2
from mcp.client.client import Client
from mcp.client.stdio import StdioServerParameters
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.exceptions import MCPError
from mcp_types import ElicitResult


def say(**observation):
    print(json.dumps(observation), flush=True)


def wire(model):
    return model.model_dump(mode="json", by_alias=True, exclude_none=True)


@contextlib.asynccontextmanager
async def server(session):
    if "command" in session:
        command, *args = session["command"]
        yield StdioServerParameters(command=command, args=args)
    else:
        headers = {"Authorization": f"Bearer {session['token']}"}
        async with httpx2.AsyncClient(headers=headers) as http:
            yield streamable_http_client(session["url"], http_client=http)


async def play(session):
    asked = []

    async def answer(_, params):
        asked.append(params.message)
        return ElicitResult(**session["answer"])

    options = {"mode": "auto" if session["era"] == "modern" else "legacy"}
    if session["answer"]:
        options["elicitation_callback"] = answer
    async with server(session) as target, Client(target, **options) as client:
        say(protocol=client.protocol_version)
        say(tools=[wire(tool) for tool in (await client.list_tools()).tools])
        for tool, arguments in session["calls"]:
            asked.clear()
            try:
                result = await client.call_tool(tool, arguments)
                say(tool=tool, result=wire(result), asked=asked)
            except MCPError as error:
                say(tool=tool, error={"code": error.error.code, "message": error.error.message}, asked=asked)


anyio.run(play, json.loads(sys.argv[1]))
