// What is true, whatever the Inspector shows: the inventory, the repositories, the verifier.

import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';

import { HERE } from './laboratory.mjs';

export class World {
  constructor(binary, scratch) {
    this.binary = binary;
    this.scratch = scratch;
    this.inventory = JSON.parse(execFileSync(binary, ['tools', '--json'])).map((row) => row.tool ?? row);
  }

  // Branches of the remote in the workspace that was laid out last.
  branches() {
    const remotes = readdirSync(this.scratch, { withFileTypes: true })
      .filter((entry) => entry.isDirectory())
      .map((entry) => join(this.scratch, entry.name, 'origin.git'))
      .filter(existsSync)
      .sort((one, other) => statSync(other).birthtimeMs - statSync(one).birthtimeMs);
    const lines = execFileSync('git', ['-C', remotes[0], 'for-each-ref', '--format=%(refname:short)', 'refs/heads']);
    return lines.toString().trim().split('\n');
  }

  // What `candor verify` says about one tool, under these lies.
  verify(tool, lies) {
    const plant = lies.flatMap((lie) => ['--mislabel', lie]);
    const only = ['--case', join(HERE, '..', 'tests', 'cases', `${tool}.toml`)];
    const done = spawnSync(this.binary, ['verify', '--world', 'demo', ...only, ...plant], { encoding: 'utf8' });
    return { status: done.status, text: done.stdout };
  }
}
