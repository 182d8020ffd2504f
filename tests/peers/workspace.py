"""What the clients meet: a demo workspace, and candor serving it."""

import contextlib
import sqlite3
import subprocess
import time

from expectations import PATIENCE, brief, equal, expect


class Workspace:
    """A demo workspace, looked at past the server."""

    def __init__(self, candor, folder):
        subprocess.run([candor, "demo", folder], check=True, stdout=subprocess.DEVNULL, timeout=PATIENCE)
        self.folder = folder
        self.database = folder / "shop.db"
        self.options = ["--repo", folder / "repo", "--notes", folder / "notes", "--database", self.database]
        self.options += ["--reports", folder / "reports.db"]

    def refs(self):
        """Every ref of the bare remote."""
        command = ["git", "-C", self.folder / "origin.git", "for-each-ref", "--format=%(refname) %(objectname)"]
        lines = subprocess.run(command, check=True, capture_output=True, text=True, timeout=PATIENCE).stdout
        return dict(line.split() for line in lines.splitlines())

    def sql(self, text):
        with contextlib.closing(sqlite3.connect(f"{self.database.as_uri()}?mode=ro", uri=True)) as connection:
            return [list(row) for row in connection.execute(text)]

    def dump(self):
        with contextlib.closing(sqlite3.connect(f"{self.database.as_uri()}?mode=ro", uri=True)) as connection:
            return list(connection.iterdump())


class Server:
    """Where a client finds candor: how to start it on stdio, or where it listens and with which token."""

    def __init__(self, candor, workspace, transport):
        self.serve = [str(part) for part in [candor, "serve", *workspace.options]]
        self.http = transport == "http"
        if not self.http:
            return
        self.tokens, lines = {}, []
        for who, scopes in [("all", "all"), ("read", "read")]:
            command = [candor, "token", "new", who, scopes]
            made = subprocess.run(command, check=True, capture_output=True, text=True, timeout=PATIENCE).stdout
            self.tokens[who] = next(word for word in made.split() if word.startswith("candor_"))
            lines.append(made)
        tokens = workspace.folder / "tokens.toml"
        tokens.write_text("\n".join(lines))
        self.out, self.log = workspace.folder / "serve.out", workspace.folder / "serve.log"
        with self.out.open("w") as out, self.log.open("w") as log:
            command = [*self.serve, "--http", "127.0.0.1:0", "--tokens", tokens]
            self.process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=out, stderr=log)
        self.url = self.address()

    def address(self):
        mark, end = "candor: listening on ", time.monotonic() + 30
        while time.monotonic() < end and self.process.poll() is None:
            for line in self.log.read_text().splitlines(keepends=True):
                if line.startswith(mark) and line.endswith("\n"):
                    return line.removeprefix(mark).strip()
            time.sleep(0.05)
        self.process.kill()
        raise AssertionError(f"the server does not listen: {brief(self.log.read_text())}")

    def target(self, who):
        if self.http:
            return {"url": self.url, "token": self.tokens[who]}
        return {"command": [*self.serve, "--grant", who]}

    def stop(self):
        expect(self.process.poll() is None, f"ended early with {self.process.poll()}: {brief(self.log.read_text())}")
        self.process.terminate()
        try:
            status = self.process.wait(30)
        except subprocess.TimeoutExpired:
            self.process.kill()
            raise AssertionError("did not stop within 30 s") from None
        equal(status, 0, "exit status")
        equal(self.out.read_text(), "", "stdout")
