"""One session with the MCP Inspector without its windows; prints what came of it, a line each.

`inspector.py cli` starts `mcp-inspector --cli` for every request; it has no way to ask a user.
`inspector.py mcpdo` keeps a connection in mcpdo's daemon, and answers what the server asks.
"""

import json
import pathlib
import subprocess
import sys
import tempfile

PATIENCE = 60  # seconds for one command: asked in the modern era, the command line waits for ever


def say(**observation):
    print(json.dumps(observation), flush=True)


def run(*command):
    options = {"stdin": subprocess.DEVNULL, "capture_output": True, "text": True, "timeout": PATIENCE}
    done = subprocess.run(command, check=False, **options)
    sys.stderr.write(done.stderr)
    return done


def outcome(done):
    """A result of a tool also comes with exit status 5 when it says `isError`."""
    if done.stdout.strip():
        return {"result": json.loads(done.stdout)}
    error = json.loads(done.stderr.strip().splitlines()[-1])["error"]
    return {"error": {"code": error["code"], "message": error["message"]}}


def entry(session):
    if "command" in session:
        command, *args = session["command"]
        return {"type": "stdio", "command": command, "args": args, "protocolEra": session["era"]}
    headers = {"Authorization": f"Bearer {session['token']}"}
    return {"type": "streamable-http", "url": session["url"], "headers": headers, "protocolEra": session["era"]}


def cli(session, config):
    command = ["mcp-inspector", "--cli", "--config", config, "--server", "peer", "--format", "json", "-q"]

    def request(*arguments):
        seen = outcome(run(*command, *arguments))
        return {"result": seen["result"]["result"]} if "result" in seen else seen

    say(protocol=request("--method", "initialize")["result"]["protocolVersion"])
    say(tools=request("--method", "tools/list")["result"]["tools"])
    for tool, arguments in session["calls"]:
        text = json.dumps(arguments)
        say(tool=tool, asked=[], **request("--method", "tools/call", "--tool-name", tool, "--tool-args-json", text))


def mcpdo(session, config):
    def do(*arguments):
        return outcome(run("mcpdo", "--format", "json", *arguments))

    answer = session["answer"] or {}
    words = {"accept": json.dumps(answer.get("content")), "decline": "--decline", "cancel": "--cancel"}
    try:
        do("--config", config, "connect", "peer", "--elicit", "form" if answer else "off")
        say(protocol=do("@peer", "connections/show")["result"]["protocolVersion"])
        say(tools=do("@peer", "tools/list")["result"]["tools"])
        for tool, arguments in session["calls"]:
            asked = []
            seen = do("@peer", "tools/call", tool, json.dumps(arguments))
            while question := seen.get("result", {}).get("elicitationPending"):
                asked.append(question["message"])
                seen = do("@peer", "elicitation/respond", question["elicitationId"], words[answer["action"]])
            say(tool=tool, asked=asked, **seen)
    finally:
        run("mcpdo", "disconnect", "peer")
        run("mcpdo", "daemon", "stop")


session = json.loads(sys.argv[2])
with tempfile.TemporaryDirectory() as scratch:
    config = pathlib.Path(scratch, "mcp.json")
    config.write_text(json.dumps({"mcpServers": {"peer": entry(session)}}))
    {"cli": cli, "mcpdo": mcpdo}[sys.argv[1]](session, str(config))
