"""What each client is made to do, and what must come of it."""

import collections
import contextlib
import dataclasses
import json
import os
import pathlib
import signal
import subprocess
import tempfile

from expectations import PATIENCE, brief, equal, expect
from workspace import Server, Workspace

ERAS = {"legacy": "2025-11-25", "modern": "2026-07-28"}

# About the demo workspace: a branch whose commits are on no other, a question to its database, and
# rows to add.
UNMERGED = "feature/search"
QUERY = "SELECT customer, count(*), sum(total) FROM order_totals GROUP BY customer ORDER BY customer LIMIT 5"
TABLE = "products"
ROWS = [
    {"sku": "TEA-PEER", "name": 'Gyokuro, "first" flush', "price": 1290},
    {"sku": "CUP-PEER", "name": "Tasse für Gäste 茶", "price": 850},
]
INSERTED = "SELECT sku, name, price FROM products WHERE sku LIKE '%-PEER' ORDER BY id"

NO_WAY = "Missing required client capability"  # -32021 in words


@dataclasses.dataclass(frozen=True)
class Client:
    name: str
    command: tuple[str, ...]
    eras: tuple[str, ...] = ("legacy", "modern")
    asks: bool = True  # it can put the server's question to a user
    # The Inspector calls only what `tools/list` shows, refuses the rest itself, and hides the codes
    # of the errors that it gets.
    inspector: bool = False
    # How it words the HTTP status 403: from the answer's body, or from its `WWW-Authenticate`.
    forbidden: str = "needs the scope `{}`"


CLIENTS = [
    Client("python", ("python", "clients/python.py")),
    Client("ts-v1", ("node", "clients/ts-v1.mjs"), eras=("legacy",)),
    Client("ts-v2", ("node", "clients/ts-v2.mjs"), forbidden='Insufficient scope: required "{}"'),
    Client("inspector", ("python", "clients/inspector.py", "cli"), asks=False, inspector=True),
    Client("mcpdo", ("python", "clients/inspector.py", "mcpdo"), inspector=True),
]

# What is checked, in the order of the table.
CHECKS = {
    "era": "the client and the server agree on the newest revision of the era",
    "list": "all fifteen tools, in reading order",
    "hints": "the annotations that the client reports equal `candor tools --json`",
    "branches": "`list_branches` shows what git shows",
    "create": "`create_branch` adds that one ref to the remote",
    "query": "`query` answers what sqlite3 answers",
    "insert": "`insert_rows` adds those rows to the file, and nothing else",
    "reader": "a reader's list holds the tools of the read scopes alone",
    "refuse": "a reader's `delete_branch` and `execute` are refused, and nothing changes",
    "decline": "asked and declined: the unmerged branch stays",
    "cancel": "asked and cancelled: the unmerged branch stays",
    "unasked": "a client that can't ask its user is refused, and the unmerged branch stays",
    "confirm": "asked and confirmed: that one ref is gone from the remote",
    "server": "the HTTP server lives to the end, stops when told to, and keeps stdout clean",
}


class Session:
    """What a client reported. Asking for what it did not report fails the check that asks."""

    def __init__(self, output, trouble):
        self.seen = [json.loads(line) for line in output.splitlines()]
        self.trouble = trouble

    def pick(self, key, at=0):
        found = [observation for observation in self.seen if key in observation]
        expect(at < len(found), f"the client did not report `{key}` {at}; {self.trouble}")
        return found[at]

    def tools(self):
        return self.pick("tools")["tools"]

    def done(self, at=0):
        """The structured result of a call that must have worked."""
        call = self.pick("tool", at)
        expect("result" in call and not call["result"].get("isError"), f"`{call['tool']}` failed: {brief(call)}")
        return call["result"]["structuredContent"]

    def error(self, at=0):
        """The error that a call ended with, past any result."""
        call = self.pick("tool", at)
        expect("error" in call, f"`{call['tool']}` did not end with an error: {brief(call)}")
        return call["error"]

    def refused(self, at=0):
        """The text of a call that must have been refused by the tool or the gate."""
        call = self.pick("tool", at)
        expect(call.get("result", {}).get("isError"), f"`{call['tool']}` was not refused with `isError`: {brief(call)}")
        return "\n".join(block["text"] for block in call["result"]["content"])


class Cell:
    """One client over one transport in one era."""

    def __init__(self, client, transport, era):
        self.client, self.transport, self.era = client, transport, era
        self.name = f"{client.name} {transport} {era}"
        skip = set() if client.asks else {"decline", "cancel", "confirm"}
        self.checks = [check for check in CHECKS if check not in skip and (check, transport) != ("server", "stdio")]
        self.passed, self.failed, self.changes = set(), {}, []

    @contextlib.contextmanager
    def check(self, name):
        try:
            yield
            self.passed.add(name)
        except Exception as error:  # whatever went wrong in a check, the check has failed
            self.failed[name] = f"{type(error).__name__}: {error}"

    def play(self, candor, environment, inventory):
        with tempfile.TemporaryDirectory(prefix="candor-peers-") as folder:
            try:
                self.environment = environment | {"HOME": f"{folder}/home"}
                pathlib.Path(folder, "home").mkdir()
                self.workspace = Workspace(candor, pathlib.Path(folder, "demo"))
                self.server = Server(candor, self.workspace, self.transport)
            except Exception as error:
                self.failed |= dict.fromkeys(self.checks, f"not reached: {error}")
                return self
            trouble = ""
            for part in (lambda: self.work(inventory), lambda: self.read(inventory), self.delete):
                try:
                    part()
                except Exception as error:  # between two checks; those that follow are not reached
                    trouble += f"; {type(error).__name__}: {error}"
            if self.server.http:
                with self.check("server"):
                    self.server.stop()
        for name in self.checks:
            if name not in self.passed:
                self.failed.setdefault(name, f"not reached{trouble}")
        return self

    def session(self, who, calls, answer=None):
        session = {"era": self.era, "answer": answer, "calls": calls, **self.server.target(who)}
        command = [*self.client.command, json.dumps(session)]
        client = subprocess.Popen(
            command, env=self.environment, cwd=self.environment["PEERS"], text=True, start_new_session=True,
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        )  # fmt: skip
        try:
            output, errors = client.communicate(timeout=PATIENCE)
        except subprocess.TimeoutExpired:
            os.killpg(client.pid, signal.SIGKILL)
            output, errors = client.communicate()
            errors += f"\nstopped after {PATIENCE} s"
            if self.client.name == "mcpdo":  # its daemon is on its own
                subprocess.run(["mcpdo", "daemon", "stop"], check=False, env=self.environment, timeout=PATIENCE)
        return Session(output, f"exit status {client.returncode}; {errors[-600:]}")

    def work(self, inventory):
        """Everything that needs no question, by a caller who may do everything."""
        before, dump = self.workspace.refs(), self.workspace.dump()
        calls = [
            ["list_branches", {"limit": 100}],
            ["create_branch", {"branch": "peers/new", "from": "main"}],
            ["query", {"sql": QUERY}],
            ["insert_rows", {"table": TABLE, "rows": ROWS}],
        ]
        answered = self.workspace.sql(QUERY)
        seen = self.session("all", calls)
        with self.check("era"):
            equal(seen.pick("protocol")["protocol"], ERAS[self.era], "revision")
        with self.check("list"):
            equal([tool["name"] for tool in seen.tools()], [entry["tool"]["name"] for entry in inventory], "tools")
            equal(len(inventory), 15, "tools")
        with self.check("hints"):
            for tool, entry in zip(seen.tools(), inventory, strict=True):
                equal(tool.get("annotations"), entry["tool"]["annotations"], f"annotations of `{tool['name']}`")
        with self.check("branches"):
            listed = {f"refs/heads/{branch['name']}": branch["head"] for branch in seen.done(0)["branches"]}
            equal(listed, {ref: oid for ref, oid in before.items() if ref.startswith("refs/heads/")}, "branches")
        with self.check("create"):
            seen.done(1)
            equal(self.workspace.refs(), before | {"refs/heads/peers/new": before["refs/heads/main"]}, "refs")
        with self.check("query"):
            equal(seen.done(2)["rows"], answered, "rows")
        with self.check("insert"):
            seen.done(3)
            equal(self.workspace.sql(INSERTED), [list(row.values()) for row in ROWS], "inserted")
            added = collections.Counter(self.workspace.dump())
            added.subtract(dump)
            equal([count for count in added.values() if count], [1] * len(ROWS), "lines added to the dump")

    def read(self, inventory):
        """What a caller with the read scopes sees and may not do."""
        before = self.workspace.refs(), self.workspace.dump()
        beyond = [("delete_branch", "repo:delete"), ("execute", "database:admin")]
        calls = [["delete_branch", {"branch": UNMERGED}], ["execute", {"sql": f"DELETE FROM {TABLE}"}]]
        calls.append(["list_branches", {}])
        seen = self.session("read", calls)
        with self.check("reader"):
            readable = [entry["tool"]["name"] for entry in inventory if entry["scope"].endswith(":read")]
            equal([tool["name"] for tool in seen.tools()], readable, "tools")
        with self.check("refuse"):
            for at, (tool, scope) in enumerate(beyond):
                if self.client.inspector:
                    equal(seen.error(at).get("code"), "tool_not_found", tool)
                else:
                    wanted = (self.client.forbidden if self.server.http else "needs the scope `{}`").format(scope)
                    refusal = seen.error(at)["message"] if self.server.http else seen.refused(at)
                    expect(wanted in refusal, f"`{tool}` was refused otherwise: {refusal}")
            seen.done(2)  # a refusal does not end the conversation
            expect((self.workspace.refs(), self.workspace.dump()) == before, "something changed")

    def delete(self):
        """Deleting a branch whose commits no other branch holds: the user decides."""
        call = [["delete_branch", {"branch": UNMERGED}]]

        def attempt(answer):
            before = self.workspace.refs()
            expect(f"refs/heads/{UNMERGED}" in before, f"`{UNMERGED}` was gone already")
            seen = self.session("all", call, answer)
            after = self.workspace.refs()
            name = answer["action"] if answer else "unasked"
            gone = [f"-{ref}" for ref in before if ref not in after]
            new = [f"+{ref}" for ref in after if before.get(ref) != after[ref]]
            self.changes.append(f"{name}: {' '.join(gone + new) or 'none'}")
            if answer:
                asked = seen.pick("tool")["asked"]
                expect(len(asked) == 1 and UNMERGED in asked[0], f"asked: {brief(asked)}")
            return seen, before, after

        with self.check("unasked"):
            seen, before, after = attempt(None)
            if self.era == "modern":
                key, wanted = ("message", NO_WAY) if self.client.inspector else ("code", -32021)
                equal(seen.error().get(key), wanted, "error")
            else:
                expect("confirmation unavailable" in seen.refused(), f"refused otherwise: {seen.refused()}")
            equal(after, before, "refs")
        if not self.client.asks:
            return
        for name, action, said in [("decline", "decline", "declined"), ("cancel", "cancel", "cancelled")]:
            with self.check(name):
                seen, before, after = attempt({"action": action})
                expect(said in seen.refused(), f"refused otherwise: {seen.refused()}")
                equal(after, before, "refs")
        with self.check("confirm"):
            seen, before, after = attempt({"action": "accept", "content": {"confirm": True}})
            equal(seen.done()["outcome"], "deleted", "outcome")
            equal(after, {ref: oid for ref, oid in before.items() if ref != f"refs/heads/{UNMERGED}"}, "refs")
