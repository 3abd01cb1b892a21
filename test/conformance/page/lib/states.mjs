// Twelve states of the page, as the pictures of the documentation and the tests show them.
import { until } from '../../lib/site.mjs';

/** The agents of these states. The slow one is at work while one looks. */
export const agents = work =>
  `agents:\n  demo:\n    options: {pace: 4ms}\n    cwd: ${work}\n  slow:\n    adapter: demo\n    options: {pace: 1s}\n  echo: {}\nsessions: {on_disconnect: detach}\n`;

const SESSIONS = [
  ['team', 'Find the source', 'demo', 'Find the source, with nested sub-agents.'],
  [
    'flow',
    'Double the flow in spring',
    'demo',
    'Search the functions of the river.',
    'Edit the flow: it doubles in spring.',
    'Run the tests in a shell.',
  ],
  ['rivers', 'Seasons for all rivers', 'demo', 'Give each river its season. I will review it.'],
  ['release', 'Notes for the next release', 'demo', 'Write the notes in Markdown.'],
  ['format', 'Format the sources', 'demo', 'Format the sources and test them, with the scopes that I may choose.'],
  ['colours', 'Which colour for the button?', 'demo', 'Ask me for the colour of the button.'],
  ['flaky', 'Look for the flaky test', 'demo', 'Find the error in the flaky test.'],
];
// The slow agent makes a plan for each list, so that a plan is in sight as long as the last prompt waits.
const QUEUE = [
  'work',
  'Work through the list',
  'slow',
  'Work through the todo list.',
  'Then work through the todo list of tomorrow.',
  'Write the notes, too.',
];

/** Has the agents say all that the states show. */
export async function furnish(site) {
  const make = (id, title, agent) => site.post('/api/sessions', { id, title, agent });
  const say = (id, n, text) =>
    site.post('/api/chat', { id, messages: [{ id: `u-${id}-${n}`, role: 'user', parts: [{ type: 'text', text }] }] });
  for (const [id, title, agent, ...prompts] of SESSIONS) {
    await make(id, title, agent);
    for (const [n, text] of prompts.entries()) await say(id, n, text);
  }
  const [id, title, agent, ...prompts] = QUEUE;
  await make(id, title, agent);
  for (const [n, text] of prompts.entries()) {
    say(id, n, text).catch(() => {
      /* the gateway ends before the turn */
    });
    // in this order
    await until(`prompt ${n} has arrived`, async () =>
      n === 0
        ? (await site.get(`/api/sessions/${id}`)).json.state === 'running'
        : (await site.get(`/api/sessions/${id}/queue`)).json.queue.length === n,
    );
  }
}

const tests = page => page.getByText('go test ./... && echo').first().click();
const fromTheTop = async page => {
  await page.locator('.scroll').hover();
  await page.mouse.wheel(0, -20_000);
};
const comment = async (page, path, line, text) => {
  await page
    .locator(`.review [data-path="${path}"]`)
    .getByRole('button', { name: `Comment on line ${line}`, exact: true })
    .last()
    .click();
  await page.keyboard.type(text);
};

/** Each state: its name, its address, and what a person does there. request: the first request that waits, by its id. The queue comes first, while it is long. */
export const states = request => [
  [
    'queue',
    '#/s/work',
    async page => {
      await page.getByRole('region', { name: 'Waiting prompts' }).getByText('Write the notes').waitFor();
      await page.getByRole('region', { name: 'Plan' }).waitFor();
    },
  ],
  ['page', '#/s/flow', tests],
  ['markdown', '#/s/release', fromTheTop],
  ['changes', '#/s/rivers', fromTheTop],
  [
    'review',
    '#/s/rivers/review',
    async page => {
      await comment(page, 'docs/guides/rivers.md', 1, 'Keep the old title.');
      await page.keyboard.press('Enter');
      await comment(page, 'data/table.txt', 42, 'Why slow?');
    },
  ],
  [
    'subagents',
    '#/s/team',
    async page => {
      await fromTheTop(page);
      await page.getByText('Find the source').last().click();
    },
  ],
  ['approval', '#/s/format', page => page.getByText('The agent waits for your answer.').waitFor()],
  ['question', '#/s/colours', page => page.getByRole('button', { name: 'green' }).waitFor()],
  ['inbox', '#/inbox', page => page.locator('[data-request]').nth(1).waitFor()],
  ['request', `#/s/format/r/${encodeURIComponent(request)}`, page => page.locator('[data-request]').waitFor()],
  [
    'commands',
    '#/s/flow',
    async page => {
      await page.getByRole('textbox', { name: 'Your message' }).waitFor(); // the page listens to keys then
      await page.keyboard.press('Control+k');
      await page.getByRole('dialog').waitFor();
    },
  ],
  [
    'sessions',
    '#/s/flow',
    async page => {
      // on a phone the list is a drawer
      const show = page.getByRole('button', { name: 'Show the sessions' });
      await page.getByRole('textbox', { name: 'Your message' }).waitFor(); // the page is there then
      if (await show.isVisible()) await show.click();
      await page.getByText('Look for the flaky test').first().waitFor();
    },
  ],
];

/** The id of the first request that waits. */
export const requestOf = async site => (await site.get('/api/sessions/format/requests')).json.requests[0].id;
