// The TypeScript SDK, version 1. It speaks the legacy era alone.
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { ElicitRequestSchema } from '@modelcontextprotocol/sdk/types.js';
import { play } from './session.mjs';

await play({
  Client,
  StdioClientTransport,
  StreamableHTTPClientTransport,
  elicitation: ElicitRequestSchema,
  options: () => ({}),
});
