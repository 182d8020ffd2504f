// The query tool on the TypeScript SDK, version 2, on stdio: DATABASE.
import { DatabaseSync } from 'node:sqlite';
import { McpServer } from '@modelcontextprotocol/server';
import { StdioServerTransport } from '@modelcontextprotocol/server/stdio';
import { tools } from './tools.mjs';

const register = tools(new DatabaseSync(process.argv[2], { readOnly: true }));
await register(new McpServer({ name: 'peer', version: '1' })).connect(new StdioServerTransport());
