// The query tool on the TypeScript SDK, version 1: DATABASE [PORT stateless|session].
import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import { DatabaseSync } from 'node:sqlite';
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import { tools } from './tools.mjs';

const [database, port, mode] = process.argv.slice(2);
const register = tools(new DatabaseSync(database, { readOnly: true }));
const serve = () => register(new McpServer({ name: 'peer', version: '1' }));

if (!port) {
  await serve().connect(new StdioServerTransport());
} else {
  const sessions = new Map();
  const session = async (id) => {
    if (sessions.has(id)) return sessions.get(id);
    const transport = new StreamableHTTPServerTransport({
      sessionIdGenerator: mode === 'session' ? randomUUID : undefined,
      enableJsonResponse: true,
      onsessioninitialized: (id) => sessions.set(id, transport),
    });
    await serve().connect(transport);
    return transport;
  };
  createServer(async (request, response) => {
    const transport = await session(request.headers['mcp-session-id']);
    await transport.handleRequest(request, response);
  }).listen(Number(port), '127.0.0.1');
}
