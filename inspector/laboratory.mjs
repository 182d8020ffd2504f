// What the demos need: candor over HTTP with a token for each of two callers, a filled-in copy of
// mcp.json, and the Inspector. All of it lives in one scratch directory and is gone after `close`.

import { execFileSync, spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

export const HERE = import.meta.dirname;
const PATIENCE = 60_000;

// $CANDOR, or the one of this checkout, built now.
export function candor() {
  if (process.env.CANDOR) return process.env.CANDOR;
  const cargo = ['build', '--quiet', '--message-format=json-render-diagnostics'];
  const built = execFileSync('cargo', cargo, { cwd: HERE, stdio: ['ignore', 'pipe', 'inherit'] });
  const messages = built.toString().trim().split('\n').map((line) => JSON.parse(line));
  return messages.find((message) => message.executable && message.target.name === 'candor').executable;
}

export class Laboratory {
  scratch = mkdtempSync(join(tmpdir(), 'candor-inspector-'));
  config = join(this.scratch, 'mcp.json');
  #children = [];

  static async open(binary) {
    const laboratory = new Laboratory();
    try {
      await laboratory.#serve(binary);
    } catch (error) {
      await laboratory.close();
      throw error;
    }
    return laboratory;
  }

  async #serve(binary) {
    const callers = { READER: 'read', ADMINISTRATOR: 'all' };
    const made = Object.entries(callers).map(([name, scopes]) => {
      const lines = execFileSync(binary, ['token', 'new', name.toLowerCase(), scopes]).toString();
      return { name, lines, token: /candor_\S+/.exec(lines)[0] };
    });
    const tokens = join(this.scratch, 'tokens.toml');
    writeFileSync(tokens, made.map(({ lines }) => lines).join('\n'), { mode: 0o600 });
    const env = { ...process.env, TMPDIR: this.scratch };
    const [, url] = await this.run([binary, 'serve', '--http', '127.0.0.1:0', '--tokens', tokens], env, /listening on (\S+)/);
    const { mcpServers } = JSON.parse(readFileSync(join(HERE, 'mcp.json')));
    for (const entry of Object.values(mcpServers)) {
      if (entry.type === 'stdio') {
        // Each connection lays out a demo workspace of its own, here.
        Object.assign(entry, { command: binary, env: { TMPDIR: this.scratch } });
      } else {
        entry.url = url;
        const name = entry.headers.Authorization.split('TOKEN-OF-')[1];
        entry.headers.Authorization = `Bearer ${made.find((caller) => caller.name === name).token}`;
      }
    }
    writeFileSync(this.config, JSON.stringify({ mcpServers }), { mode: 0o600 });
  }

  // Start a program that runs until `close`; resolves to the match of what it says when ready.
  run([program, ...args], env, ready) {
    const child = spawn(program, args, { env, stdio: ['ignore', 'pipe', 'pipe'] });
    this.#children.push(child);
    let log = '';
    return new Promise((resolve, reject) => {
      const fail = (why) => reject(new Error(`${program} ${why}: ${log}`));
      const clock = setTimeout(() => fail('is not ready'), PATIENCE);
      child.on('error', (error) => fail(error.message));
      child.on('exit', (code) => fail(`ended with ${code}`));
      for (const stream of [child.stdout, child.stderr]) {
        createInterface({ input: stream }).on('line', (line) => {
          log += `${line}\n`;
          const match = ready.exec(line);
          if (match) {
            clearTimeout(clock);
            resolve(match);
          }
        });
      }
    });
  }

  // The Inspector's web page; resolves to its address.
  async inspect(settings) {
    const env = { ...process.env, MCP_INSPECTOR_SECRET_STORE: 'memory', ...settings };
    const [url] = await this.run(['mcp-inspector', '--web', '--config', this.config], env, /http:\/\/\S+/);
    return url;
  }

  async close() {
    const alive = this.#children.filter((child) => child.pid && child.exitCode === null && child.signalCode === null);
    await Promise.all(
      alive.map((child) => {
        const ended = new Promise((resolve) => child.once('exit', resolve));
        child.kill('SIGTERM');
        const clock = setTimeout(() => child.kill('SIGKILL'), 5000);
        return ended.then(() => clearTimeout(clock));
      }),
    );
    rmSync(this.scratch, { recursive: true, force: true });
  }
}

// A port that nobody listens on.
export function freePort() {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.on('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const { port } = server.address();
      server.close(() => resolve(port));
    });
  });
}
