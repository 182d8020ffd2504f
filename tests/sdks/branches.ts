// `list_branches` and `delete_branch` with the TypeScript SDK; compare tools/src/list_branches.rs and
// delete_branch.rs.
//
//     node branches.ts REPOSITORY

import { execFileSync } from 'node:child_process';
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import { z } from 'zod';

const repository: string = process.argv[2];
const server = new McpServer({ name: 'branches', version: '1.0.0' });
const git = (...words: string[]) => execFileSync('git', ['-C', repository, ...words], { encoding: 'utf8', stdio: 'pipe' });
const text = (value: string) => ({ content: [{ type: 'text' as const, text: value }] });
const branches = () => git('for-each-ref', '--format=%(refname:lstrip=2)', 'refs/heads').trim().split('\n');

server.registerTool(
  'list_branches',
  {
    title: 'List branches',
    description: 'List the branches of the repository. Changes nothing.',
    annotations: {
      title: 'List branches',
      readOnlyHint: true,
      destructiveHint: false,
      idempotentHint: true,
      openWorldHint: false, // one repository, chosen by the operator
    },
  },
  () => text(branches().join('\n')),
);

server.registerTool(
  'delete_branch',
  {
    title: 'Delete branch',
    description: 'Delete a branch that is merged; one whose commits are nowhere else is refused. Permanent.',
    inputSchema: { branch: z.string() },
    annotations: {
      title: 'Delete branch',
      readOnlyHint: false,
      destructiveHint: true, // commits that no other branch holds
      idempotentHint: true, // a repeat finds nothing to delete
      openWorldHint: false,
    },
  },
  ({ branch }) => {
    if (!branches().includes(branch)) return text('absent');
    git('branch', '--delete', '--', branch); // not --force: git refuses what is not merged
    return text('deleted');
  },
);

await server.connect(new StdioServerTransport());
