// A session of a thousand messages: what it draws when it opens and while one types in it; and, as a measurement, how long that takes.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { measurement, until, useChromium, useGateway } from './lib/page.mjs';
import { asks, call, says, show } from './lib/show.mjs';

useChromium();
const site = useGateway();

const CODE =
  '```go\nfunc (r *Reader) Read(ctx context.Context) (Frame, error) {\n\tfor {\n\t\tif err := r.fill(ctx); err != nil {\n\t\t\treturn Frame{}, err\n\t\t}\n\t}\n}\n```';
const answer = i =>
  says(
    { type: 'reasoning', text: `I think about question ${i}.`, state: 'done' },
    `Let me look at **part ${i}**.`,
    call('Read', { file_path: `/w/file${i}.go` }, `1\tpackage x\n`.repeat(40)),
    call('Bash', { command: `go test ./part${i}` }, 'ok\n'.repeat(60)),
    ...(i % 3
      ? []
      : [
          call(
            'Edit',
            { file_path: `/w/file${i}.go`, old_string: `var a = ${i}\nvar b = 1`, new_string: `var a = ${i + 1}\nvar b = 1\nvar c = 2` },
            'ok',
          ),
        ]),
    `## Result ${i}\n\n${'Some words about what was done, with `code` and [a link](https://example.com). '.repeat(6)}\n\n- one\n- two\n- three\n\n${i % 2 ? CODE : '| a | b |\n|--|--|\n| 1 | 2 |\n'}`,
  );
const conversation = turns =>
  Array.from({ length: turns }, (_, i) => [asks(`Question ${i}: ${'what is it? '.repeat(4)}`), answer(i)]).flat();

/** Opens a session with so many messages, and measures how long that takes. */
async function opened(messages) {
  const page = await show(site, conversation(messages / 2));
  await page.getByText(`Result ${messages / 2 - 1}`).waitFor();
  // Opened once more, with the page's files in the cache: from the click on the address until the end of the last answer stands there.
  await page.reload({ waitUntil: 'commit' });
  const took = await page.evaluate(
    last =>
      new Promise(resolve => {
        const look = () => {
          const all = document.querySelectorAll('.agent-says'),
            end = all[all.length - 1];
          if (end?.textContent.includes(last)) requestAnimationFrame(() => setTimeout(() => resolve(performance.now())));
          else requestAnimationFrame(look);
        };
        look();
      }),
    `Result ${messages / 2 - 1}`,
  );
  await page.getByRole('textbox', { name: 'Your message' }).click();
  await page.evaluate(() => {
    window.typed = [];
    document.querySelector('textarea').addEventListener(
      'keydown',
      () => {
        const from = performance.now();
        requestAnimationFrame(() => setTimeout(() => window.typed.push(performance.now() - from)));
      },
      true,
    );
  });
  return { page, took: Math.round(took) };
}

const typedOn = page => page.evaluate(() => window.typed);
async function type(page) {
  const before = (await typedOn(page)).length,
    words = 'how long is it?';
  await page.keyboard.type(words, { delay: 30 });
  await until('all keys are measured', async () => (await typedOn(page)).length === before + words.length);
}
async function keyOn(page) {
  const times = (await typedOn(page)).sort((a, b) => a - b);
  return Math.round(times[Math.floor(times.length / 2)]);
}

/** Scrolls through a part of the session: the slowest frame. */
const scroll = page =>
  page.evaluate(async () => {
    const box = document.querySelector('.scroll');
    let last = performance.now(),
      worst = 0;
    for (let i = 0; i < 90; i++) {
      box.scrollTop -= 900;
      await new Promise(requestAnimationFrame);
      const now = performance.now();
      worst = Math.max(worst, now - last);
      last = now;
    }
    return Math.round(worst);
  });

async function memory(page) {
  const client = await page.context().newCDPSession(page);
  await client.send('HeapProfiler.enable');
  await client.send('HeapProfiler.collectGarbage');
  await client.send('Performance.enable');
  const { metrics } = await client.send('Performance.getMetrics');
  const metric = name => metrics.find(m => m.name === name).value;
  return { megabytes: Math.round(metric('JSHeapUsedSize') / 1e6), nodes: metric('Nodes') };
}

test('a thousand messages draw no content of what is folded, and a key in the composer draws none of them again', async () => {
  const nodes = [];
  for (const messages of [20, 1000]) {
    const page = await show(site, conversation(messages / 2));
    await page.getByText(`Result ${messages / 2 - 1}`).waitFor();
    const field = page.getByRole('textbox', { name: 'Your message' });
    await field.click();
    await until('the colours are there', async () => await page.evaluate(() => document.querySelectorAll('[role=log] pre').length > 0));
    assert.equal(await page.locator('[role=log] .terminal').count(), 0, 'no output of a call that is folded');
    await page.evaluate(() => {
      window.drawn = 0;
      new MutationObserver(all => {
        window.drawn += all.length;
      }).observe(document.querySelector('[role=log]'), { subtree: true, childList: true, characterData: true, attributes: true });
    });
    // What is still being drawn from before comes to an end; what a key draws comes each time.
    await until('the keys change nothing in the conversation', async () => {
      await field.fill('');
      await page.evaluate(() => {
        window.drawn = 0;
      });
      await page.keyboard.type('how long is it?');
      await until('all keys have come', async () => (await field.inputValue()) === 'how long is it?');
      return (await page.evaluate(() => window.drawn)) === 0;
    });
    nodes.push((await page.evaluate(() => document.querySelectorAll('[role=log] *').length)) / messages);
    await page.leave();
  }
  assert.ok(nodes[1] < nodes[0] * 1.5 && nodes[1] < 100, `${nodes.join(' and ')} elements for each message`);
});

test('a thousand messages open fast, and typing among them is as fast as in a short session', measurement, async () => {
  const short = await opened(20),
    long = await opened(1000);
  for (let i = 0; i < 4; i++) for (const { page } of [short, long]) await type(page); // side by side: other load of the machine slows both
  for (const it of [short, long]) Object.assign(it, { key: await keyOn(it.page), frame: await scroll(it.page) }, await memory(it.page));
  for (const [messages, it] of [
    [20, short],
    [1000, long],
  ])
    console.log(
      `${messages} messages: open ${it.took} ms, a key ${it.key} ms, slowest frame of a scroll ${it.frame} ms, heap ${it.megabytes} MB, ${it.nodes} nodes`,
    );
  for (const { page } of [short, long]) await page.leave();
  // Both times are of one run, but what else the machine does while the long session opens makes the long one longer alone: on a busy machine this can fail.
  assert.ok(long.took < 12 * short.took, `it opens in ${long.took} ms, and a short session in ${short.took} ms`);
  // A key is drawn with the next frame, which comes each 17 ms: one or two of them are chance.
  assert.ok(long.key < 2 * short.key + 30, `a key takes ${long.key} ms, and ${short.key} ms in a short session`);
  assert.ok(long.megabytes < 200, `it needs ${long.megabytes} MB`);
});
