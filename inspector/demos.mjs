// The five demos of README.md in the Inspector's web page. Each ends in its picture.

import assert from 'node:assert/strict';

const BADGES = {
  readOnlyHint: 'READ-ONLY',
  destructiveHint: 'DESTRUCTIVE',
  idempotentHint: 'IDEMPOTENT',
  openWorldHint: 'OPEN-WORLD',
};
const badges = (hints) => Object.keys(BADGES).filter((hint) => hints[hint] === true).map((hint) => BADGES[hint]);
const LOSSY = 'feature/search';
const ASKED = `Delete branch \`${LOSSY}\`? 2 commits are on no other branch and may be lost.`;
const ANSWERS = [
  { button: 'Decline', says: /declined/, stays: true },
  { button: 'Cancel', says: /cancelled/, stays: true },
  { button: 'Submit', says: /"deleted"/, stays: false },
];

export const demos = {
  async '1-badges'({ connect, world, picture }) {
    const silent = await connect('without hints');
    for (const { name, title } of world.inventory) assert.deepEqual(await silent.pick(name, title), [], name);
    await silent.close();
    const honest = await connect('candor');
    for (const { name, title, annotations } of world.inventory) {
      assert.deepEqual((await honest.pick(name, title)).sort(), badges(annotations).sort(), name);
    }
    await honest.pick('write_note', 'Save note');
    await picture(honest);
    await honest.close();
  },

  async '2-lie'({ connect, world, picture }) {
    const liar = await connect('mislabelled');
    for (const view of [1, 2]) {
      await liar.pick('list_branches', 'List branches'); // a fresh form
      const shown = await liar.pick('fetch_report', 'Fetch report');
      assert.deepEqual(shown.sort(), ['IDEMPOTENT', 'READ-ONLY']);
      await liar.execute({ report: '2026-03-sales' });
      await liar.says(new RegExp(`"view": ${view}`));
    }
    await picture(liar);
    await liar.close();
    const honest = world.verify('fetch_report', []);
    assert.equal(honest.status, 0, honest.text);
    const lying = world.verify('fetch_report', ['fetch_report.readOnlyHint=true', 'fetch_report.idempotentHint=true']);
    assert.equal(lying.status, 1, lying.text);
    for (const hint of ['readOnlyHint', 'idempotentHint']) {
      assert.match(lying.text, new RegExp(`✗ fetch_report/${hint}: true refuted`), lying.text);
    }
  },

  async '3-refusal'({ connect, world, picture }) {
    const names = world.inventory.map(({ name }) => name);
    const reader = await connect('candor over HTTP, reader');
    const listed = await reader.names(names);
    assert.ok(listed.includes('list_branches') && !listed.includes('delete_branch'), listed);
    await reader.close();
    const administrator = await connect('candor over HTTP, administrator');
    assert.deepEqual(await administrator.names(names), names);
    const before = world.branches();
    await administrator.pick('delete_branch', 'Delete branch');
    await administrator.execute({ branch: 'release/1.0' });
    await administrator.says(/protected/);
    await picture(administrator);
    assert.deepEqual(world.branches(), before);
    await administrator.close();
  },

  async '4-question'({ connect, world, picture }) {
    const session = await connect('candor');
    for (const { button, says, stays } of ANSWERS) {
      await session.pick('list_branches', 'List branches'); // a fresh form
      await session.pick('delete_branch', 'Delete branch');
      const before = world.branches();
      assert.ok(before.includes(LOSSY));
      await session.execute({ branch: LOSSY });
      assert.ok((await session.question()).includes(ASKED));
      if (button === 'Decline') await picture(session);
      await session.answer(button);
      await session.says(says);
      assert.deepEqual(world.branches(), before.filter((name) => stays || name !== LOSSY), button);
    }
    await session.close();
  },

  async '5-eras'({ connect, world, picture }) {
    for (const [server, retried] of [['candor', true], ['candor, older protocol', false]]) {
      const session = await connect(server);
      await session.pick('delete_branch', 'Delete branch');
      await session.execute({ branch: LOSSY });
      const question = await session.question();
      assert.ok(question.includes(ASKED));
      assert.equal(/input_required/i.test(question), retried, question);
      if (!retried) await picture(session);
      await session.answer('Submit');
      await session.says(/"outcome": "deleted"/);
      assert.ok(!world.branches().includes(LOSSY), server);
      await session.close();
    }
  },
};
