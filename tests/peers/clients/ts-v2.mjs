// The TypeScript SDK, version 2. It speaks the legacy era unless told to negotiate.
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { play } from './session.mjs';

await play({
  Client,
  StdioClientTransport,
  StreamableHTTPClientTransport,
  elicitation: 'elicitation/create',
  options: (era) => ({ versionNegotiation: { mode: era === 'modern' ? 'auto' : 'legacy' } }),
});
