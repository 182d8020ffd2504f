// The same five demos without a window: the Inspector's command line, and mcpdo where somebody answers.

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

const LOSSY = 'feature/search';
const LIE = ['readOnlyHint', 'idempotentHint'];

function run(laboratory, program, ...args) {
  // mcpdo is several processes, which share secrets through a file; `HOME` keeps them apart from the user's.
  const env = { ...process.env, HOME: laboratory.scratch, MCP_INSPECTOR_SECRET_STORE: 'file' };
  const done = spawnSync(program, args, { env, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'], timeout: 60_000 });
  const text = done.stdout.trim() || done.stderr.trim().split('\n').at(-1);
  try {
    return { status: done.status, ...JSON.parse(text) };
  } catch {
    throw new Error(`${program} ${args.join(' ')}: ${done.status} ${done.stdout} ${done.stderr}`);
  }
}

export async function headless(laboratory, world) {
  const cli = (server, ...args) => {
    const target = ['--cli', '--config', laboratory.config, '--server', server];
    return run(laboratory, 'mcp-inspector', ...target, '--format', 'json', '-q', ...args);
  };
  const list = (server) => cli(server, '--method', 'tools/list').result.tools;
  const remove = (server, branch) =>
    cli(server, '--method', 'tools/call', '--tool-name', 'delete_branch', '--tool-args-json', JSON.stringify({ branch }));

  // 1: the hints of `candor tools --json`, and none.
  const hints = ({ name, annotations }) => [name, annotations];
  assert.deepEqual(list('candor').map(hints), world.inventory.map(hints));
  for (const { annotations } of list('without hints')) assert.deepEqual(Object.keys(annotations ?? {}), ['title']);
  // 2: the lie goes through unnoticed.
  const told = list('mislabelled').find(({ name }) => name === 'fetch_report').annotations;
  const known = world.inventory.find(({ name }) => name === 'fetch_report').annotations;
  for (const hint of LIE) assert.deepEqual([told[hint], known[hint]], [true, false]);
  // 3: not listed, so the Inspector does not even ask; and asked all the same, refused.
  assert.equal(remove('candor over HTTP, reader', 'fix/typo').error.code, 'tool_not_found');
  await reach(laboratory);
  const refused = remove('candor over HTTP, administrator', 'release/1.0');
  assert.equal(refused.result.isError, true);
  assert.match(refused.result.content[0].text, /protected/);
  // 4 and 5: a deletion that asks, answered three ways, in both eras.
  const eras = { candor: 'input-required', 'candor, older protocol': 'server-request' };
  for (const [server, origin] of Object.entries(eras)) answer(laboratory, world, server, origin);
}

// A reader's own request, past any client: the gate answers.
async function reach({ config }) {
  const { url, headers } = JSON.parse(readFileSync(config)).mcpServers['candor over HTTP, reader'];
  const meta = {
    'io.modelcontextprotocol/protocolVersion': '2026-07-28',
    'io.modelcontextprotocol/clientCapabilities': {},
    'io.modelcontextprotocol/clientInfo': { name: 'demo', version: '0' },
  };
  const params = { name: 'delete_branch', arguments: { branch: 'fix/typo' }, _meta: meta };
  const reply = await fetch(url, {
    method: 'POST',
    headers: {
      ...headers,
      'Content-Type': 'application/json',
      Accept: 'application/json, text/event-stream',
      'MCP-Protocol-Version': '2026-07-28',
      'Mcp-Method': 'tools/call',
      'Mcp-Name': 'delete_branch',
    },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params }),
  });
  assert.equal(reply.status, 403, await reply.text());
  assert.match(reply.headers.get('www-authenticate'), /insufficient_scope.*repo:delete/);
}

function answer(laboratory, world, server, origin) {
  const mcpdo = (...args) => run(laboratory, 'mcpdo', '--format', 'json', ...args);
  const name = origin;
  try {
    mcpdo('--config', laboratory.config, 'connect', server, '--connection', name, '--elicit', 'form');
    for (const [word, says, stays] of [
      ['--decline', /declined/, true],
      ['--cancel', /cancelled/, true],
      ['{"confirm":true}', /deleted/, false],
    ]) {
      const { elicitationPending } = mcpdo(`@${name}`, 'tools/call', 'delete_branch', JSON.stringify({ branch: LOSSY }));
      assert.equal(elicitationPending.origin, origin);
      const reply = mcpdo(`@${name}`, 'elicitation/respond', elicitationPending.elicitationId, word);
      assert.match(JSON.stringify(reply), says);
      assert.equal(world.branches().includes(LOSSY), stays, `${server} ${word}`);
    }
  } finally {
    spawnSync('mcpdo', ['daemon', 'stop'], { env: { ...process.env, HOME: laboratory.scratch } });
  }
}
