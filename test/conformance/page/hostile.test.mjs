// Hostile words in all places where an agent or another person may put them, and data in shapes that the page does not expect.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { shot } from './lib/clock.mjs';
import { accessible, open, still, until, useChromium, useGateway } from './lib/page.mjs';
import { asks, call, data, failed, says, show } from './lib/show.mjs';

useChromium();
const site = useGateway();

const BAD = '<img src=x onerror="window.hurt=1"><script>window.hurt=2</script><svg onload="window.hurt=3"></svg>';
const JS = 'javascript:window.hurt=4',
  HTML = 'data:text/html,<script>opener.hurt=5;parent.hurt=5</script>';
const SVG = `data:image/svg+xml;base64,${Buffer.from('<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9" onload="window.hurt=6"><script>parent.hurt=7</script></svg>').toString('base64')}`;
const LINKS = `[a](${JS}) [b](${HTML}) [c](JAVASCRIPT:window.hurt=8) [d](java\tscript:window.hurt=9) [e](file:///etc/passwd) ![f](${JS}) ![g](${SVG}) <${JS}>`;

/** Opens all that opens, clicks all links and words that may be one, and fails if anything came of it. */
async function harmless(page) {
  await until('all that opens is open', async () => {
    await still(page);
    return page.locator('[role=log]').evaluateAll(all => {
      const closed = all.flatMap(l => [...l.querySelectorAll('details:not([open]) > summary')]);
      for (const el of closed) el.click();
      return closed.length === 0;
    });
  });
  await page.locator('.no-link').evaluateAll(all => {
    for (const el of all) el.click();
  });
  const found = await page.evaluate(() => ({
    nodes: [
      ...document.body.querySelectorAll(
        'script, iframe, style, object, embed, base, [onerror], [onload], [onclick], [ontoggle], svg script',
      ),
    ]
      .filter(n => n.src !== `${location.origin}${new URL(n.src || 'x:', location).pathname}` || n.tagName !== 'SCRIPT')
      .map(n => n.outerHTML.slice(0, 200)),
    links: [...document.querySelectorAll('a[href], area[href], form[action], [srcdoc]')]
      .filter(a => !/^(https?:|mailto:|#|\/)/i.test(a.getAttribute('href') ?? 'bad') && !a.hasAttribute('download'))
      .map(a => a.outerHTML.slice(0, 200)),
    pictures: [...document.querySelectorAll('img')].map(i => i.src).filter(s => !/^(data:image\/|\/|http:\/\/127)/.test(s)),
    hurt: window.hurt,
    alive: !!document.querySelector('main'),
  }));
  assert.deepEqual(found, { nodes: [], links: [], pictures: [], hurt: undefined, alive: true });
  assert.equal(page.context().pages().length, 1, 'no window was opened');
}

test('hostile words of tools, sources, files and data stay words', async () => {
  const task = call('Task', { description: BAD, prompt: LINKS, subagent_type: BAD }, LINKS, { title: BAD });
  const page = await show(site, [
    {
      id: 'u1',
      role: 'user',
      parts: [
        { type: 'file', url: SVG, mediaType: 'image/svg+xml', filename: BAD },
        {
          type: 'file',
          url: 'data:text/html;base64,PHNjcmlwdD5vcGVuZXIuaHVydD0xPC9zY3JpcHQ+',
          mediaType: 'text/html',
          filename: `${BAD}.html`,
        },
        { type: 'text', text: `${BAD} ${LINKS}` },
      ],
    },
    says(
      call('Bash', { command: BAD, description: BAD }, `\u001b]8;;${JS}\u0007click\u001b]8;;\u0007 \u001b[31m${BAD}\u001b[0m`, {
        title: BAD,
      }),
      failed('Bash', { command: BAD }, BAD),
      call('Edit', { file_path: `/w/${BAD}`, old_string: BAD, new_string: LINKS }, BAD),
      call('Write', { file_path: JS, content: BAD }, 'ok'),
      call('Read', { file_path: `${BAD}.html` }, BAD),
      call('Grep', { pattern: BAD, path: BAD }, `${BAD}:1:${BAD}`),
      call('WebFetch', { url: JS, prompt: BAD }, LINKS, { title: BAD }),
      call('WebFetch', { url: HTML }, `${BAD}\n\n${LINKS}`),
      call('WebSearch', { query: BAD }, [
        { title: BAD, url: JS },
        { title: BAD, url: HTML },
      ]),
      call(BAD, { [BAD]: BAD, __proto__x: { [BAD]: [BAD] } }, { [BAD]: LINKS, url: JS }),
      call('TodoWrite', { todos: [{ content: BAD, status: BAD, activeForm: BAD }] }, BAD),
      task,
      data('subagent', { tool_call_id: task.toolCallId, name: BAD, text: `${BAD} ${LINKS}`, status: BAD }),
      data('error', { message: BAD }),
      data('notice', { message: BAD }),
      data('steer', { text: BAD, by: BAD }),
      data('file-change', { path: BAD, change: BAD, diff: `--- a/x\n+++ b/x\n@@ -1 +1 @@\n-${BAD}\n+${LINKS}\n` }),
      data(BAD, { [BAD]: BAD }),
      data('plan', { entries: [{ content: BAD, status: 'pending' }] }),
      { type: 'source-url', sourceId: 's1', url: JS, title: BAD },
      { type: 'source-url', sourceId: 's2', url: HTML, title: BAD },
      { type: 'source-document', sourceId: 's3', title: BAD, mediaType: BAD, filename: BAD },
      { type: 'file', url: JS, mediaType: 'image/png', filename: BAD },
      { type: 'file', url: HTML, mediaType: 'text/html', filename: BAD },
      { type: 'file', url: SVG, mediaType: 'image/svg+xml', filename: BAD },
      { type: 'reasoning', text: `${BAD} ${LINKS}`, state: 'done' },
      `${BAD} ${LINKS}`,
      'the end',
    ),
  ]);
  await page.getByText('the end', { exact: true }).waitFor();
  await harmless(page);
  for (const picture of await page.locator('[role=log] button:has(img):visible').all()) {
    await picture.click();
    await page.getByRole('dialog').waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
  }
  await harmless(page);
  await shot(page, 'hostile-parts');
  await page.leave();
});

test('data in shapes that the page does not expect leave the page alive', async () => {
  const shapes = [null, 5, 'x', [], {}, [null], { a: null }, true];
  const parts = shapes.flatMap(x => [
    ...[
      'Bash',
      'Edit',
      'MultiEdit',
      'Write',
      'Read',
      'Grep',
      'Glob',
      'WebFetch',
      'WebSearch',
      'TodoWrite',
      'update_plan',
      'Task',
      'unknown',
    ].flatMap(name => [
      call(name, x, x ?? null),
      call(
        name,
        {
          command: x,
          file_path: x,
          path: x,
          old_string: x,
          new_string: x,
          edits: x,
          content: x,
          pattern: x,
          url: x,
          query: x,
          todos: x,
          plan: x,
          description: x,
          prompt: x,
        },
        { stdout: x, exit_code: x, output: x, content: x },
      ),
    ]),
    ...['error', 'notice', 'steer', 'file-change', 'plan', 'subagent', 'usage', 'weather', 'agent-status', 'commands'].flatMap(name => [
      data(name, x),
      data(name, {
        message: x,
        text: x,
        by: x,
        path: x,
        change: x,
        diff: x,
        entries: x,
        name: x,
        status: x,
        tool_call_id: x,
        parent_id: x,
        detail: x,
        cost: x,
        context: x,
      }),
    ]),
  ]);
  const own = call('Task', { description: 'round' }, 'ok'),
    round = (id, parent) => ({
      ...data('subagent', { tool_call_id: id, parent_id: parent, name: id, text: 'round', status: 'running' }),
      id,
    });
  const page = await show(site, [
    asks('go'),
    says(...parts, own, round(own.toolCallId, own.toolCallId), round('one', 'two'), round('two', 'one'), 'the end'),
  ]);
  await page.getByText('the end', { exact: true }).waitFor();
  await harmless(page);
  await shot(page, 'hostile-shapes');
  await page.leave();
});

test('hostile words of people, agents and requests stay words in the list, the header, the inbox and the menus', async () => {
  const title = '<img src=x onerror="window.hurt=1">';
  await site.post('/api/sessions', { id: 'bad', title, agent: 'echo' });
  const request = kind => ({
    id: `r-${kind}`,
    kind,
    session: 'bad',
    session_title: BAD,
    agent: BAD,
    turn: 't',
    message_id: 'm',
    tool_call_id: 'c',
    tool: BAD,
    title: `${BAD} ${LINKS}`,
    input: { command: BAD, url: JS, [BAD]: BAD },
    options: [
      { id: 'a', name: BAD, kind: 'allow_once', scope: BAD },
      { id: 'b', name: 'Deny', kind: 'reject_once' },
    ],
    text: `${BAD} ${LINKS}`,
    choices: [{ label: BAD, description: BAD }],
    at: new Date().toISOString(),
    may_answer: true,
    takes_input: true,
    takes_reason: true,
  });
  const page = await open(site, '#/s/bad', {
    prepare: async page => {
      await page.route('**/api/requests', route => route.fulfill({ json: { requests: [request('permission'), request('question')] } }));
      await page.route('**/api/agents', route =>
        route.fulfill({
          json: {
            agents: [
              {
                name: BAD,
                default: true,
                available: false,
                reason: BAD,
                modes: [{ id: BAD, name: BAD, description: BAD }],
                models: [{ id: BAD, name: BAD }],
                commands: [{ name: BAD, description: BAD, hint: BAD }],
              },
            ],
          },
        }),
      );
      await page.route('**/api/sessions/bad/controls*', route =>
        route.fulfill({
          json: {
            mode: BAD,
            modes: [{ id: BAD, name: BAD, description: BAD }],
            model: BAD,
            models: [{ id: BAD, name: BAD }],
            commands: [{ name: BAD, description: BAD, hint: BAD }],
            steer: false,
            files: true,
          },
        }),
      );
      await page.route('**/api/sessions/bad/files*', route => route.fulfill({ json: { files: [BAD, JS], more: false } }));
    },
  });
  await page.getByRole('heading', { level: 1, name: title }).waitFor();
  await page.say(`${BAD} ${LINKS}`);
  await until(
    'the agent has repeated it',
    async () =>
      (await page.locator('article.agent-says').count()) === 1 && (await page.locator('[role=log][aria-busy=false]').count()) === 1,
  );
  for (const word of ['/', '@']) {
    await page.getByRole('textbox', { name: 'Your message' }).pressSequentially(word);
    await page.getByRole('option').first().waitFor();
    await harmless(page);
    await page.keyboard.press('Escape');
    await page.getByRole('textbox', { name: 'Your message' }).fill('');
  }
  await page.locator('input[type=file]').setInputFiles([
    {
      name: 'x"><img src=x onerror=window.hurt=1>.svg',
      mimeType: 'image/svg+xml',
      buffer: Buffer.from('<svg xmlns="http://www.w3.org/2000/svg" onload="window.hurt=1"/>'),
    },
  ]);
  await page.getByRole('list', { name: 'Goes with this message' }).getByRole('listitem').waitFor();
  await harmless(page);
  assert.ok((await page.title()).includes(title));
  await page.goto(`${site.base}/#/inbox`);
  await page.getByRole('button', { name: 'Deny' }).first().waitFor();
  await harmless(page);
  await shot(page, 'hostile-inbox');
  await page.keyboard.press('Control+k');
  await page.getByRole('dialog').waitFor();
  await harmless(page);
  await page.keyboard.press('Escape');
  await page.goto(`${site.base}/#/`);
  await page.getByRole('textbox', { name: 'Your message' }).waitFor();
  await harmless(page);
  await accessible(page, 'a page with hostile names');
  await page.leave();
});
