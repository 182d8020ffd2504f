// Plays the demos in a real browser and without one: `npm test`, or `npm test -- --accept` to take
// new pictures. What a picture shows as text is compared with what the page shows now.

import assert from 'node:assert/strict';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { launch } from './browser.mjs';
import { demos } from './demos.mjs';
import { headless } from './headless.mjs';
import { HERE, Laboratory, candor, freePort } from './laboratory.mjs';
import { World } from './world.mjs';

const accept = process.argv.includes('--accept');
const pictures = join(HERE, 'pictures');
const FIX = 'if the change is meant, run `npm test -- --accept` in inspector/ and commit what it writes';

const binary = candor();
const laboratory = await Laboratory.open(binary);
let browser;
try {
  const world = new World(binary, laboratory.scratch);
  await part('headless', () => headless(laboratory, world));
  const [page, sandbox, apps] = [await freePort(), await freePort(), await freePort()];
  const address = await laboratory.inspect({
    HOME: laboratory.scratch,
    CLIENT_PORT: page,
    MCP_SANDBOX_PORT: sandbox,
    MCP_APP_ORIGIN_PORT: apps,
    MCP_AUTO_OPEN_ENABLED: 'false',
  });
  browser = await launch(address);
  mkdirSync(pictures, { recursive: true });
  for (const [name, demo] of Object.entries(demos)) {
    const picture = async (session) => {
      const seen = await session.picture(join(accept ? pictures : laboratory.scratch, `${name}.png`));
      const file = join(pictures, `${name}.txt`);
      if (accept) writeFileSync(file, `${seen.trim()}\n`);
      assert.equal(`${seen.trim()}\n`, readFileSync(file, 'utf8'), FIX);
    };
    await part(name, () => demo({ connect: browser.connect, world, picture }));
  }
} finally {
  await browser?.close();
  await laboratory.close();
}

async function part(name, play) {
  const began = Date.now();
  await play();
  console.log(`ok ${name} (${((Date.now() - began) / 1000).toFixed(1)} s)`);
}
