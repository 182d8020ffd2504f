"""`list_branches` and `delete_branch` with the Python SDK; compare tools/src/list_branches.rs and delete_branch.rs.

branches.py REPOSITORY
"""

import subprocess
import sys

from mcp.server.mcpserver import MCPServer
from mcp.types import ToolAnnotations

REPOSITORY = sys.argv[1]
server = MCPServer("branches")


def git(*arguments):
    done = subprocess.run(["git", "-C", REPOSITORY, *arguments], check=False, capture_output=True, text=True)
    if done.returncode:
        raise ValueError(done.stderr.strip())
    return done.stdout


@server.tool(
    title="List branches",
    annotations=ToolAnnotations(
        title="List branches",
        read_only_hint=True,
        destructive_hint=False,
        idempotent_hint=True,
        open_world_hint=False,  # one repository, chosen by the operator
    ),
)
def list_branches() -> list[str]:
    """List the branches of the repository. Changes nothing."""
    return git("for-each-ref", "--format=%(refname:lstrip=2)", "refs/heads").split()


@server.tool(
    title="Delete branch",
    annotations=ToolAnnotations(
        title="Delete branch",
        read_only_hint=False,
        destructive_hint=True,  # commits that no other branch holds
        idempotent_hint=True,  # a repeat finds nothing to delete
        open_world_hint=False,
    ),
)
def delete_branch(branch: str) -> str:
    """Delete a branch that is merged; one whose commits are nowhere else is refused. Permanent."""
    if branch not in list_branches():
        return "absent"
    git("branch", "--delete", "--", branch)  # not --force: git refuses what is not merged
    return "deleted"


server.run()
