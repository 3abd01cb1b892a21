// Plays the golden streams of uistream/testdata/rfc to the real clients: the rows of the RFC, by default and with `compat: rfc`.
// Each client must accept a default stream. A stream with `compat: rfc` must have exactly the effect stated here.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import { test } from 'node:test';
import { chosen, load } from './lib/clients.mjs';
import { replay } from './lib/replay.mjs';
import { streamsOf } from './lib/sse.mjs';

const folder = new URL('../../uistream/testdata/rfc/', import.meta.url);

// The parts that `compat: rfc` leaves unfinished on the page, in every client. All else is as in the default form. Only the
// oldest of them knows no mark for a call that the agent runs itself, which is what the harness looks for.
const text = '1 part(s) are left streaming: text',
  call = '1 tool call(s) never get an output: bash';
const unfinished = {
  C08: [text],
  D05: [call],
  D07: [call, text],
  D09: [text],
  D10: [call],
  D11: [text],
};
// Where the client stops at the first error, what follows is lost; by default it is there.
const lost = { D07: { text: '', tools: ['input-available'] } };
const said = {
  // texts that the two forms tell differently: with `compat: rfc` a question is no text
  D13: 'One thing: blue it is.',
};

const clients = await Promise.all(chosen().map(load));
const files = fs
  .readdirSync(folder)
  .filter(f => f.endsWith('.sse'))
  .sort();
const read = async (client, file) => {
  const quiet = console.error;
  console.error = () => {};
  try {
    return await replay(client, streamsOf(fs.readFileSync(new URL(file, folder), 'utf8')), true);
  } finally {
    console.error = quiet;
  }
};
const states = turn => turn.tools.map(t => t.state);

test('every row is there in both forms', () => {
  const rows = form => files.filter(f => f.endsWith(`.${form}.sse`)).map(f => f.split('.')[0]);
  assert.ok(rows('default').length >= 20);
  assert.deepEqual(rows('default'), rows('rfc'));
  for (const row of [...Object.keys(unfinished), ...Object.keys(lost), ...Object.keys(said)]) assert.ok(rows('rfc').includes(row), row);
});

for (const row of new Set(files.map(f => f.split('.')[0]))) {
  test(`${row}: both forms in ${clients.length} clients`, async () => {
    for (const client of clients) {
      const plain = await read(client, `${row}.default.sse`),
        rfc = await read(client, `${row}.rfc.sse`);
      assert.deepEqual(plain.errors, [], `${client.name}, default`);
      assert.equal(plain.turns[0].id, 'm1', `${client.name}, default`);

      const problems = rfc.errors.map(e => e.problem).sort();
      const expected = (unfinished[row] ?? []).filter(p => p !== call || client.name !== '5.0.0').sort();
      assert.deepEqual(problems, expected, `${client.name}, compat: rfc`);
      const [turn] = rfc.turns;
      assert.equal(turn.id, 'turn-abc123', `${client.name}, compat: rfc`);
      assert.equal(turn.text, lost[row]?.text ?? said[row] ?? plain.turns[0].text, `${client.name}, compat: rfc`);
      if (lost[row]) assert.deepEqual(states(turn), lost[row].tools, `${client.name}, compat: rfc`);
      else if (!expected.includes(call) && row !== 'D05' && row !== 'D10' && row !== 'D13')
        assert.deepEqual(states(turn), states(plain.turns[0]), `${client.name}, compat: rfc`);
    }
  });
}
