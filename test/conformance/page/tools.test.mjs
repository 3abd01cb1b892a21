// What an agent does, as the page draws it: by kind, in every state, at any size.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import { describe, test } from 'node:test';
import { accessible, glimpse, openCard as opened, open, until, useChromium, useGateway } from './lib/page.mjs';
import { shot } from './lib/clock.mjs';
import { asks, call, data, failed, says, show, showNext } from './lib/show.mjs';

useChromium();
const site = useGateway();

/** The card whose line has these words. */
const card = (page, words) =>
  page
    .locator('.tool')
    .filter({ has: page.locator('summary', { hasText: words }) })
    .first();
const openCard = async (page, words) => {
  const it = card(page, words);
  await opened(it);
  return it;
};
const one = (...parts) => [asks('go'), says(...parts)];

describe('a command', () => {
  const out =
    '\x1b[1;32mok\x1b[0m a\n\x1b[31mFAIL\x1b[0m b\n 10%\r 50%\r100%\nx\by \x1b[38;5;202morange\x1b[0m \x1b]0;title\x07\x1b[2Kend\n';

  test('is shown with its output in a terminal’s colours, and how it ended', async () => {
    const page = await showNext(
      site,
      one(
        call(
          'Bash',
          { command: 'go test ./...\necho done', cwd: '/work' },
          { output: out, metadata: { exit: 1 } },
          { title: 'Run `go test ./...`' },
        ),
      ),
    );
    const it = await openCard(page, 'go test');
    assert.equal(await it.locator('.terminal pre').textContent(), 'ok a\nFAIL b\n100%\ny orange end\n');
    assert.equal(await it.locator('.ansi-green.ansi-bold').textContent(), 'ok');
    assert.equal(await it.locator('.ansi-red').textContent(), 'FAIL');
    assert.equal(await it.locator('.command').textContent(), 'go test ./...\necho done');
    await it.getByText('It ended with 1.').waitFor();
    await it.getByText('"cwd": "/work"').waitFor();
    await page.leave();
  });

  for (const colorScheme of ['light', 'dark']) {
    test(`is legible, whatever colours its program has chosen (${colorScheme})`, async () => {
      const exact = [
        '38;2;255;255;135',
        '38;2;0;0;80',
        '38;5;231',
        '38;5;17',
        '48;2;0;90;160;97',
        '48;5;229;30',
        '48;5;229;38;5;231',
        '44;38;5;21',
        '41;97',
        '47;30',
        '7',
        '2;38;5;250',
      ];
      const page = await show(
        site,
        one(call('Bash', { command: 'paint' }, exact.map(codes => `\x1b[${codes}mpainted ${codes}\x1b[0m\n`).join(''))),
        { colorScheme },
      );
      const it = await openCard(page, 'paint');
      await it.getByText('painted 38;2;0;0;80').waitFor();
      await accessible(page, 'exact colours');
      await shot(page, `ansi-${colorScheme}`);
      await page.leave();
    });
  }

  test('with a long output is a window on it, which opens on request', async () => {
    const text = Array.from({ length: 300 }, (_, i) => `line ${i}`).join('\n');
    const page = await showNext(site, one(call('Bash', { command: 'watch' }, text)));
    const it = await openCard(page, 'watch');
    const pre = it.locator('.terminal pre');
    const height = async () => (await pre.boundingBox()).height;
    const before = await height();
    await it.getByRole('button', { name: 'Show all' }).click();
    await until('it is larger', async () => (await height()) > before + 100);
    await page.leave();
  });

  test('of other agents is a command, too', async () => {
    const calls = [
      call('shell', { command: ['bash', '-lc', 'ls -l'] }, 'a'),
      call('commandExecution', { command: 'pwd', cwd: '/w' }, { aggregated_output: '/w\n', exit_code: 0 }),
      call('run_shell_command', { command: 'id' }, { type: 'shell_result', output: 'root', exitCode: 0 }),
      call('execute', { cmd: 'date' }, [{ type: 'text', text: 'today' }]),
    ];
    const page = await showNext(site, one(...calls));
    for (const [words, output] of [
      ['ls -l', 'a'],
      ['pwd', '/w'],
      ['id', 'root'],
      ['date', 'today'],
    ]) {
      const it = await openCard(page, words);
      assert.equal((await it.locator('.terminal pre').textContent()).trim(), output);
    }
    await page.leave();
  });
});

describe('an edit', () => {
  const rows = it =>
    it.locator('.diff tr').evaluateAll(all =>
      all
        .map(r => r.lastElementChild)
        .filter(c => /add|del/.test(c.className))
        .map(
          c =>
            `${c.dataset.sign}${[...c.childNodes]
              .filter(n => n.className !== 'unseen')
              .map(n => n.textContent)
              .join('')}`,
        ),
    );
  const cases = {
    'by old and new text': [
      call('Edit', { file_path: '/w/a.go', old_string: 'var a = 1', new_string: 'var a = 2' }, 'ok'),
      ['−var a = 1', '+var a = 2'],
    ],
    'of several places': [
      call(
        'MultiEdit',
        {
          file_path: '/w/a.go',
          edits: [
            { old_string: 'x', new_string: 'y' },
            { old_string: 'p', new_string: 'q' },
          ],
        },
        'ok',
      ),
      ['−x', '+y', '−p', '+q'],
    ],
    'that writes a file': [call('Write', { file_path: '/w/new.txt', content: 'one\ntwo\n' }, 'ok'), ['+one', '+two']],
    'of ACP': [call('edit', { path: '/w/b.txt', oldText: 'old\n', newText: 'new\n' }, null), ['−old', '+new']],
    'of Codex': [
      call(
        'fileChange',
        {
          changes: [
            { path: '/w/in.txt', kind: { type: 'update' }, diff: '@@ -3,3 +3,3 @@\n l3\n-inside\n+outside\n l5\n' },
            { path: '/w/n.txt', kind: { type: 'add' }, diff: 'a\n' },
          ],
        },
        '',
      ),
      ['−inside', '+outside', '+a'],
    ],
    'as a patch with marks of its own': [
      call(
        'apply_patch',
        { input: '*** Begin Patch\n*** Update File: a.txt\n@@ head\n same\n-gone\n+come\n*** Add File: b.txt\n+new\n*** End Patch\n' },
        'Done!',
      ),
      ['−gone', '+come', '+new'],
    ],
  };
  test('is a diff, whatever its tool', async () => {
    const page = await showNext(site, one(...Object.values(cases).map(([part]) => part)));
    for (const [i, [name, [, want]]] of Object.entries(cases).entries()) {
      const it = page.locator('.tool').nth(i);
      await it.locator('.diff').first().waitFor();
      assert.deepEqual(await rows(it), want, name);
    }
    await page.leave();
  });

  test('shows the change that the agent has reported, with the numbers of the file', async () => {
    const part = call('Edit', { file_path: '/w/a.go', old_string: 'a', new_string: 'b' }, 'ok');
    const page = await showNext(
      site,
      one(
        part,
        data('file-change', {
          path: '/w/a.go',
          change: 'modified',
          tool_call_id: part.toolCallId,
          diff: '--- /w/a.go\n+++ /w/a.go\n@@ -41,3 +41,3 @@\n x\n-a\n+b\n y\n',
        }),
      ),
    );
    await page.locator('.diff').waitFor();
    assert.equal(await page.locator('.tool').count(), 1);
    assert.deepEqual(await page.locator('.diff .number').evaluateAll(all => all.map(c => c.dataset.n ?? '').filter(Boolean)), [
      '41',
      '41',
      '42',
      '42',
      '43',
      '43',
    ]);
    assert.equal(await page.locator('.diff .marked').count(), 0, 'nothing of a line that is another one is marked');
    await accessible(page, 'a diff');
    await page.leave();
  });

  test('of a file that no call has changed is a card of its own', async () => {
    const page = await showNext(
      site,
      one(data('file-change', { path: '/w/made.txt', change: 'created', diff: '--- /dev/null\n+++ /w/made.txt\n@@ -0,0 +1 @@\n+made\n' })),
    );
    await page.getByText('/w/made.txt').click();
    await page.locator('.diff').waitFor();
    assert.deepEqual(await rows(page), ['+made']);
    await page.leave();
  });
});

test('what an agent reads, searches and fetches is one line, and more on a click', async () => {
  const page = await showNext(
    site,
    one(
      call('Read', { file_path: '/w/a.go' }, '1\tpackage x\n2\t\n3\tfunc F() {}', { title: 'Read a.go' }),
      call('Grep', { pattern: 'F' }, 'a.go:3', { title: 'Search for “F”' }),
      call('WebFetch', { url: 'https://example.com/a' }, '# Title', { title: 'Fetch https://example.com/a' }),
    ),
  );
  await page.getByText('Search for “F”').waitFor();
  assert.equal(await page.locator('.tool-body').count(), 0);
  const read = await openCard(page, '/w/a.go');
  assert.equal(await read.locator('.code pre').textContent(), 'package x\n\nfunc F() {}');
  await read.locator('.hue-keyword').first().waitFor();
  await (await openCard(page, 'Search')).getByText('a.go:3').waitFor();
  const fetched = await openCard(page, 'Fetch');
  await fetched.getByRole('heading', { name: 'Title' }).waitFor();
  assert.equal(await fetched.getByRole('link').getAttribute('rel'), 'noopener noreferrer');
  await page.leave();
});

test('what a tool does is what the gateway says, whatever its name', async () => {
  const said = kind => ({ callProviderMetadata: { tributary: { kind, started_at: '2026-01-01T00:00:00.000Z' } } });
  const page = await showNext(
    site,
    one(
      call('mcp__box__ausfuehren', { script: 'make all' }, 'made', said('execute')),
      call('vergiss', { path: '/w/old.txt', content: 'x\n' }, 'ok', said('delete')),
      call('schau', { path: '/w/a.go' }, 'package a', said('read')),
      call('bash', { question: 'Ready?' }, 'yes', said('other')),
    ),
  );
  await page.locator('.tool').nth(3).waitFor();
  assert.equal(await page.getByText('package a').count(), 0, 'what was read is folded');
  assert.deepEqual(await page.locator('.tool').evaluateAll(all => all.map(t => /does-([a-z]+)/.exec(t.className)[1])), [
    'command',
    'edit',
    'read',
    'other',
  ]);
  assert.equal(await (await openCard(page, 'make all')).locator('.terminal pre').textContent(), 'made');
  await page.leave();
});

test('how long a call took is shown after a reload, too', async () => {
  const took = ms => ({ resultProviderMetadata: { tributary: { duration_ms: ms } } });
  const page = await showNext(
    site,
    one(
      call('Bash', { command: 'make all' }, 'made', took(83_400)),
      call('Read', { file_path: '/w/a.go' }, 'package a', took(120)),
      failed('Bash', { command: 'make it' }, 'No rule.', took(2_000)),
    ),
  );
  await card(page, 'make it').waitFor();
  assert.deepEqual(await page.locator('.tool .seconds').allTextContents(), ['1 min 23 s', '2 s']);
  await page.leave();
});

test('an unknown tool is readable', async () => {
  const list = Array.from({ length: 250 }, (_, i) => ({ day: i }));
  const page = await showNext(
    site,
    one(
      call('mcp__srv__get_weather', { city: 'Basel', deep: { a: { b: 1 } } }, { list, note: 'x'.repeat(3000) }),
      call('text_tool', {}, '{"in": "text"}'),
    ),
  );
  const it = await openCard(page, 'Srv get weather');
  await it.getByText('Basel').last().waitFor();
  await it.getByText('all 3,000 characters').click();
  await it.getByText('250 in a list').click();
  await it.getByText('150 more').waitFor();
  await it.getByText('deep').click();
  await (await openCard(page, 'Text tool')).locator('.json-key', { hasText: 'in' }).waitFor();
  await accessible(page, 'an unknown tool');
  await page.leave();
});

test('plans, sub-agents, notices and messages into a turn have forms of their own', async () => {
  const task = call('Task', { description: 'Look around', prompt: 'Find **all**' }, 'Three uses.', { title: 'Delegate: Look around' });
  const page = await showNext(
    site,
    one(
      call(
        'TodoWrite',
        {
          todos: [
            { content: 'Read', status: 'completed' },
            { content: 'Write', status: 'in_progress' },
          ],
        },
        'ok',
        { title: 'Update the plan' },
      ),
      call(
        'update_plan',
        {
          plan: [
            { step: 'Read', status: 'completed' },
            { step: 'Test', status: 'pending' },
          ],
        },
        'ok',
      ),
      task,
      data('subagent', { tool_call_id: task.toolCallId, name: 'explorer', text: 'I *look*.', status: 'completed' }),
      data('subagent', { text: 'alone', status: 'failed' }),
      data('notice', { message: 'Something is odd.' }),
      data('steer', { text: 'use tabs', by: 'Ann' }),
      data('weather', { city: 'Basel' }, 'w'),
    ),
  );
  await page.getByText('Plan, 1 of 2 done').click();
  assert.deepEqual(await page.locator('.plan li').allTextContents(), ['done: Read', 'Test'], 'the plan as it stands, once');
  const sub = await openCard(page, 'Delegate');
  await sub.getByText('explorer').click();
  await sub.locator('em', { hasText: 'look' }).waitFor();
  assert.equal(await page.locator('.subagent').count(), 2, 'one in its card, one alone');
  await page.getByText('Something is odd.').waitFor();
  await page.getByText('Ann, meanwhile: use tabs').waitFor();
  await page.getByText('weather').click();
  await page.getByText('Basel').waitFor();
  await accessible(page, 'other parts');
  await page.leave();
});

test('a sub-agent of a sub-agent stands in it, also after a reload', async () => {
  const page = await open(site, `#/s/nested-${process.pid}`);
  await page.say('nested');
  const inner = page.locator('.tool .subagent .subagent');
  const check = async () => {
    await page.getByText('One of my sub-agents was successful.').waitFor({ timeout: 30_000 });
    const outer = await openCard(page, 'Find the source');
    if ((await outer.locator('.subagent').first().getAttribute('open')) === null)
      await outer.locator('.subagent > summary').first().click();
    await inner.getByText('Look into the mountains').click();
    await inner.getByText('There is a glacier.').waitFor();
    assert.equal(
      await page.locator('.subagent').filter({ hasText: 'Look into the mountains' }).count(),
      2,
      'in the outer one, and nowhere else',
    );
  };
  await check();
  await page.reload();
  await check();
  await page.leave();
});

test('errors are sentences; what was denied or stopped says so', async () => {
  const decided = decision => ({
    callProviderMetadata: { tributary: { kind: 'execute', decision: { outcome: 'selected', ...decision } } },
  });
  const page = await showNext(
    site,
    one(
      failed('Read', { file_path: '/w/none' }, 'There is no such file.'),
      call('Bash', { command: 'rm -rf /' }, undefined, {
        state: 'output-denied',
        approval: { id: 'r1', approved: false, reason: 'never that' },
        ...decided({ by: 'ann', option: 'Deny' }),
      }),
      call('Bash', { command: 'ls' }, 'a', {
        approval: { id: 'r2', approved: true },
        ...decided({ by: 'ben', option: 'Always allow ls' }),
      }),
      failed('Bash', { command: 'sleep 9' }, 'Not finished: the turn was stopped.'),
      data('error', { message: 'The model is overloaded.' }),
    ),
  );
  await page.getByText('There is no such file.').waitFor();
  await page.getByText('Denied by ann: never that').waitFor();
  await page.getByText('Allowed by ben, “Always allow ls”.').waitFor();
  assert.deepEqual(await page.locator('.tool .state').allTextContents(), ['failed', 'not run', 'done', 'stopped']);
  await page.getByText('The model is overloaded.').waitFor();
  assert.equal(await page.getByText('Not finished:').count(), 0);
  await page.leave();
});

test('5 MB of output are cut, shown on request, and downloaded whole', async () => {
  const line = i => `${String(i).padStart(7, '0')} the quick brown fox jumps over the lazy dog`;
  const big = Array.from({ length: 100_000 }, (_, i) => line(i)).join('\n');
  const page = await showNext(
    site,
    one(
      call('Bash', { command: 'cat big' }, big),
      call('Read', { file_path: '/w/big.txt' }, big),
      call('dump', { x: 1 }, { rows: Array.from({ length: 50_000 }, (_, i) => ({ i, text: line(i) })) }),
      'done',
    ),
  );
  await page.getByText('done', { exact: true }).last().waitFor();
  const command = card(page, 'cat big');
  await command.locator('summary').click();
  await command.locator('.terminal', { hasText: line(99_999) }).waitFor();
  assert.ok((await command.textContent()).length < 60_000);
  assert.ok((await command.evaluate(el => el.querySelectorAll('*').length)) < 200, 'a few elements show the end of it');
  const [file] = await Promise.all([page.waitForEvent('download'), command.getByRole('button', { name: 'Download all' }).click()]);
  assert.equal(fs.statSync(await file.path()).size, big.length);
  await command.getByRole('button', { name: 'Show more' }).click();
  await until('there is more', async () => (await command.textContent()).length > 300_000);
  const read = await openCard(page, 'big.txt');
  await read.getByText(/more lines?, [\d.]+ MB/).waitFor();
  await read.getByRole('button', { name: 'Show more' }).click();
  await (await openCard(page, 'Dump')).getByText('50000 in a list').waitFor();
  assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth));
  await page.leave();
});

test('pictures are enlarged and files downloaded; sources lead out; the cost of a turn is one line', async () => {
  const png = 'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR4nGNgYPgPAAEDAQAIicLsAAAAAElFTkSuQmCC';
  const page = await showNext(site, [
    {
      id: 'u1',
      role: 'user',
      parts: [
        { type: 'file', url: png, mediaType: 'image/png', filename: 'mine.png' },
        { type: 'text', text: 'look' },
      ],
    },
    says(
      { type: 'file', url: png, mediaType: 'image/png', filename: 'pixel.png' },
      { type: 'file', url: 'data:text/csv;base64,YSxiCg==', mediaType: 'text/csv', filename: 'table.csv' },
      { type: 'source-url', sourceId: 's1', url: 'https://example.com/rivers', title: 'Rivers' },
      { type: 'source-url', sourceId: 's3', url: 'javascript:alert(1)', title: 'Bad' },
      { type: 'source-document', sourceId: 's2', title: 'Streams', mediaType: 'application/pdf' },
      data('usage', { scope: 'step', input_tokens: 3, output_tokens: 1 }, 'usage-step'),
      data(
        'usage',
        { scope: 'turn', input_tokens: 12000, output_tokens: 340, cost_usd: 0.5, context_used: 5, context_size: 10 },
        'usage-turn',
      ),
    ),
  ]);
  await page.getByRole('button', { name: 'Enlarge: mine.png' }).waitFor();
  await page.getByRole('button', { name: 'Enlarge: pixel.png' }).click();
  const box = page.getByRole('dialog', { name: 'pixel.png' });
  await box.waitFor();
  await accessible(page, 'a picture');
  const [picture] = await Promise.all([page.waitForEvent('download'), box.getByRole('link', { name: 'Download pixel.png' }).click()]);
  assert.equal(picture.suggestedFilename(), 'pixel.png');
  await page.keyboard.press('Escape');
  await until('it is closed', async () => (await box.count()) === 0);
  const [table] = await Promise.all([page.waitForEvent('download'), page.getByText('table.csv').click()]);
  assert.equal(fs.readFileSync(await table.path(), 'utf8'), 'a,b\n');
  assert.deepEqual(await page.locator('.sources a').evaluateAll(all => all.map(a => a.href)), ['https://example.com/rivers']);
  assert.equal(await page.locator('.sources li').count(), 3);
  assert.equal(await page.locator('.usage').textContent(), '12,000 tokens in · 340 out · $0.50');
  await page.leave();
});

test('the cost is that of the turn, or of its last step where the agent counts no turn', async () => {
  const step = { scope: 'step', input_tokens: 10, output_tokens: 2 },
    turn = { scope: 'turn', input_tokens: 20, output_tokens: 4 };
  const page = await showNext(
    site,
    [
      [{ ...step, scope: 'turn' }, step],
      [turn, step],
      [step],
      [step, turn, { scope: 'session', input_tokens: 300, output_tokens: 6, cost_usd: 0.5 }],
      [step, { scope: 'turn', context_used: 3 }],
      [{ scope: 'step' }],
    ].flatMap((counts, i) => [asks(`${i}`), says(`answer ${i}`, ...counts.map(c => data('usage', c, `usage-${c.scope}`)))]),
  );
  await page.getByText('answer 5').waitFor();
  assert.deepEqual(await page.locator('.usage').allTextContents(), [
    '10 tokens in · 2 out',
    '20 tokens in · 4 out',
    '10 tokens in · 2 out',
    '20 tokens in · 4 out',
    '10 tokens in · 2 out',
  ]);
  await page.leave();
});

test('the header says how full the context is, and what the session has cost', async () => {
  const page = await open(site);
  await page.say('context');
  const meter = page.getByRole('button', { name: /Usage of the session: 9\d % of the context/ });
  await meter.waitFor();
  await meter.click();
  await page.getByText(/of 200k tokens/).waitFor();
  await page.getByText('Tokens in', { exact: true }).waitFor();
  await accessible(page, 'the usage of a session');
  await page.leave();
});

test('5 MB that an agent sends while one looks on keep the page alive', async () => {
  const page = await open(site);
  await page.say('huge 5');
  await page.locator('.tool.is-done').waitFor();
  const it = page.locator('.tool.is-done').first();
  await it.locator('summary').click();
  await it.getByText(/more lines?, [\d.]+ MB/).waitFor();
  await it.getByRole('button', { name: 'Download all' }).waitFor();
  assert.ok((await page.locator('[role=log]').textContent()).length < 100_000, 'the page shows a part of it');
  await page.getByRole('textbox', { name: 'Your message' }).press('k');
  assert.equal(await page.getByRole('textbox', { name: 'Your message' }).inputValue(), 'k');
  await page.leave();
});

test('a command that runs shows its output as it comes', async () => {
  await site.post('/api/sessions', { id: 'unhurried-shell', agent: 'unhurried' });
  const page = await open(site, '#/s/unhurried-shell');
  const runs = '.tool.is-running .terminal pre';
  const one = await glimpse(page, runs, 'river/source'),
    more = await glimpse(page, runs, 'river/flood');
  await page.say('shell');
  await one();
  await more();
  await page.locator('.tool.is-failed').waitFor();
  await page.leave();
});

test('many parts of one kind, some of them long, are fine for a screen reader', async () => {
  const text = '```go\nvar a = 1\n```\n\n| a |\n|--|\n| 1 |\n\n'.repeat(2),
    error = 'It failed. '.repeat(200);
  const page = await showNext(
    site,
    one(
      { type: 'reasoning', text: 'word '.repeat(3000), state: 'done' },
      text,
      call('Bash', { command: 'ls' }, 'a\n'.repeat(100)),
      call('Bash', { command: 'ls' }, 'b'),
      call('Edit', { path: 'a', old_string: 'a', new_string: 'b' }, ''),
      call('Edit', { path: 'a', old_string: 'a', new_string: 'b' }, ''),
      failed('Read', { path: '/a' }, error),
      call('WebFetch', { url: 'https://example.com' }, 'words\n\n'.repeat(300)),
      data('plan', { entries: Array.from({ length: 40 }, (_, i) => ({ content: `step ${i}`, status: 'pending' })) }, 'plan'),
    ),
  );
  await page.getByText('Thoughts').click();
  await page.getByText('Plan, 0 of 40 done').click();
  for (const summary of await page.locator('.tool:not(.does-edit) > details > summary').all()) await summary.click();
  await page.locator('.page-text').waitFor();
  await accessible(page, 'many parts');
  await page.leave();
});

test('a call that runs says so, and how long it took', async () => {
  await site.post('/api/sessions', { id: 'unhurried-call', agent: 'unhurried' });
  const page = await open(site, '#/s/unhurried-call');
  const runs = await glimpse(page, '.tool .pulse');
  await page.say('nested');
  await runs();
  await page.getByText('One of my sub-agents was successful.').waitFor({ timeout: 60_000 });
  await page.locator('.tool.is-done .seconds').first().waitFor();
  assert.equal(await page.locator('.tool .pulse').count(), 0);
  await page.leave();
});

test('thoughts are open while they come, and folded afterwards', async () => {
  await site.post('/api/sessions', { id: 'thinker', agent: 'unhurried' });
  const page = await open(site, '#/s/thinker');
  const isOpen = await glimpse(page, 'details.reasoning[open]');
  await page.say('think');
  await isOpen();
  await page.locator('details.reasoning:not([open])').waitFor();
  await page.getByText(/^Thought/).click();
  await page.locator('.thoughts').waitFor();
  await page.leave();
});
