// Markdown as the page draws it: what agents write, and what an attacker may write.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { accessible, glimpse, measurement, open, until, useChromium, useGateway } from './lib/page.mjs';
import { asks, says, show } from './lib/show.mjs';

useChromium();
const site = useGateway(
  'agents:\n  demo: {options: {pace: 4ms}}\n  unhurried: {adapter: demo, options: {pace: 20ms}}\n  hurried: {adapter: demo, options: {pace: 1ms}}\n  calm: {adapter: demo, options: {pace: 120ms}}\n',
);

const TEXT = `# One

Words with **bold**, *soft*, ~~old~~ and \`code\`, a [link](https://example.com/a "title") and https://example.com/plain and www.example.com and me@example.com.

### Three

- a
  - b
    1. c
    2. d
- [x] done
- [ ] open

| left | right |
|:--|--:|
| ${'very long words in a cell '.repeat(12)} | 2 |

> quoted
> - in a list

&copy; &#169; &lt;b&gt; and \\*no star\\*

\`\`\`python
def f(x):
    return "text"  # a comment
\`\`\`

    indented

---
![remote](https://example.com/p.png) ![inline](data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR4nGNgYPgPAAEDAQAIicLsAAAAAElFTkSuQmCC)
`;

for (const colorScheme of ['light', 'dark']) {
  test(`is drawn with all that agents write (${colorScheme})`, async () => {
    const page = await show(site, [asks('write'), says(TEXT)], { colorScheme, viewport: { width: 700, height: 900 } });
    const text = page.locator('.markdown').last();
    await text.getByRole('heading', { name: 'One', level: 2 }).waitFor();
    const has = async (selector, n = 1) => assert.equal(await text.locator(selector).count(), n, selector);
    await text.getByRole('heading', { name: 'Three', level: 3 }).waitFor();
    for (const [selector, n] of [
      ['strong', 1],
      ['em', 1],
      ['del', 1],
      ['p > code', 1],
      ['ul ul', 1],
      ['ul ul ol > li', 2],
      ['.box', 2],
      ['.box.checked', 1],
      ['blockquote ul', 1],
      ['hr', 1],
      ['table th', 2],
      ['.code', 2],
    ])
      await has(selector, n);
    assert.match(await text.textContent(), /© © <b> and \*no star\*/);
    assert.deepEqual(await text.locator('a').evaluateAll(all => all.map(a => [a.getAttribute('href'), a.rel])), [
      ['https://example.com/a', 'noopener noreferrer'],
      ['https://example.com/plain', 'noopener noreferrer'],
      ['http://www.example.com/', 'noopener noreferrer'],
      ['mailto:me@example.com', 'noopener noreferrer'],
      ['https://example.com/p.png', 'noopener noreferrer'],
    ]);
    await has('img', 1);
    const table = text.locator('.table');
    assert.ok(await table.evaluate(el => el.scrollWidth <= el.clientWidth || getComputedStyle(el).overflowX === 'auto'));
    assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), 'the page does not scroll sideways');
    await text.locator('.hue-keyword').first().waitFor();
    assert.equal(await text.locator('.code-name').first().textContent(), 'python');
    await accessible(page, 'Markdown');
    await page.leave();
  });
}

test('the boxes of a task list are drawn, also where blank lines separate its items', async () => {
  const page = await show(site, [asks('x'), says('- a note\n\n- [x] done\n\n- [ ] open\n\n  A second paragraph.')]);
  const list = page.locator('.markdown').last();
  await list.getByRole('img', { name: 'done:' }).waitFor();
  await list.getByRole('img', { name: 'to do:' }).waitFor();
  assert.doesNotMatch(await list.textContent(), /\[/);
  await page.leave();
});

test('code is copied, and its long lines are wrapped on request', async () => {
  const page = await show(site, [asks('x'), says('```js\nconst a = 1;\n```')], { permissions: ['clipboard-read', 'clipboard-write'] });
  const copied = await glimpse(page, 'button', 'Copied');
  await page.getByRole('button', { name: 'Copy the code' }).click();
  await copied();
  assert.equal(await page.evaluate(() => navigator.clipboard.readText()), 'const a = 1;');
  await page.getByRole('button', { name: 'Wrap' }).click();
  await page.locator('.code pre.wrap').waitFor();
  await page.leave();
});

const HOSTILE = `<script>window.hurt = 1</script><img src=x onerror="window.hurt = 2"><iframe src="https://example.com"></iframe>

<svg onload="window.hurt = 3"></svg> <style>body{display:none}</style> <a href="javascript:window.hurt=4">html</a>

[one](javascript:window.hurt=5) [two](JaVaScRiPt:window.hurt=6) [three](data:text/html,<script>window.hurt=7</script>) [four](vbscript:x) [five](&#106;avascript:window.hurt=8) [six](/srv/file.go) <javascript:window.hurt=9>

![p](javascript:window.hurt=10) ![q](data:image/svg+xml,<svg onload="window.hurt=11"/>)

| <b onclick="window.hurt=12">x</b> |
|--|
| <img src=y onerror=window.hurt=13> |

\`\`\`html
<script>window.hurt = 14</script>
\`\`\`

[ref]: javascript:window.hurt=15
[ref] &lt;script&gt; <details open ontoggle="window.hurt=16">`;

test('hostile HTML stays text, runs nothing, and leads nowhere', async () => {
  const page = await show(site, [asks(HOSTILE), says({ type: 'reasoning', text: HOSTILE, state: 'done' }, HOSTILE)]);
  const text = page.locator('.agent-says > .markdown');
  await text.getByText('<script>window.hurt = 1</script>').waitFor();
  await page.getByText('Thoughts').click();
  for (const link of await text.locator('a, .no-link').all()) await link.click({ force: true });
  const found = await page.locator('[role=log]').evaluate(el => ({
    nodes: [...el.querySelectorAll('script, iframe, style, object, embed, base, form, [onerror], [onload], [onclick], [ontoggle]')].map(
      n => n.outerHTML,
    ),
    links: [...el.querySelectorAll('a')].map(a => a.getAttribute('href')),
    pictures: [...el.querySelectorAll('img')].map(i => i.src.slice(0, 19)),
  }));
  assert.deepEqual(found, { nodes: [], links: [], pictures: found.pictures });
  assert.ok(
    found.pictures.every(p => p.startsWith('data:image/svg+xml')),
    found.pictures.join(),
  );
  assert.equal(await page.evaluate(() => window.hurt), undefined);
  assert.equal(page.context().pages().length, 1);
  assert.ok(await page.locator('body').isVisible());
  await page.leave();
});

describe('while it is written', () => {
  test('what is half open is closed', async () => {
    await site.post('/api/sessions', { id: 'half', agent: 'calm' });
    const page = await open(site, '#/s/half');
    await page.getByRole('textbox', { name: 'Your message' }).waitFor();
    await page.evaluate(() => {
      window.looks = 0;
      window.wrong = [];
      new MutationObserver(() => {
        const words = document.querySelector('.agent-says')?.textContent;
        if (!words) return;
        window.looks++;
        if (/(^|[^`])`[^`]*$/.test(words.split('\n').at(-1))) window.wrong.push(words.slice(-40));
      }).observe(document.querySelector('[role=log]'), { subtree: true, childList: true, characterData: true });
    });
    await page.say('markdown'); // each word is drawn, also the first of `inline code`
    await page.locator('.agent-says code', { hasText: 'inline code' }).waitFor();
    await until('enough states were looked at', () => page.evaluate(() => window.looks > 10));
    await page.getByRole('button', { name: /^Stop/ }).click();
    const wrong = await page.evaluate(() => window.wrong);
    assert.deepEqual(wrong, [], 'a back quote that is not closed yet');
    await page.leave();
  });

  test('blocks that are done keep their elements, and nothing in them changes', async () => {
    await site.post('/api/sessions', { id: 'kept', agent: 'unhurried' });
    const page = await open(site, '#/s/kept');
    await page.say('markdown');
    await page.locator('.agent-says .markdown > :nth-child(5)').waitFor();
    const watch = await page.evaluateHandle(() => {
      const text = document.querySelector('.agent-says .markdown'),
        done = [...text.children].slice(0, -2),
        changed = [];
      new MutationObserver(all =>
        changed.push(
          ...all
            .map(m => m.target)
            .filter(at => done.some(el => el.contains(at)))
            .map(at => at.textContent),
        ),
      ).observe(text, { subtree: true, childList: true, characterData: true });
      return { text, done, changed, length: text.textContent.length };
    });
    await page.locator('.agent-says .markdown > :nth-child(12)').waitFor();
    const { done, kept, changed, more } = await watch.evaluate(w => ({
      done: w.done.length,
      kept: w.done.filter((el, i) => w.text.children[i] === el).length,
      changed: w.changed,
      more: w.text.textContent.length - w.length,
    }));
    assert.ok(done >= 3 && more > 200, `${done} blocks were done, and ${more} characters came after them`);
    assert.equal(kept, done, 'the elements are the same');
    assert.deepEqual(changed, []);
    await page.leave();
  });

  test('an answer of 10,000 words costs the page little more for each word than one of 2,500', measurement, async () => {
    const costs = [];
    for (const words of [2500, 10_000]) {
      const id = `words-${words}`;
      await site.post('/api/sessions', { id, agent: 'hurried' });
      const page = await open(site, `#/s/${id}`);
      await page.getByRole('textbox', { name: 'Your message' }).waitFor();
      const client = await page.context().newCDPSession(page);
      await client.send('Performance.enable', { timeDomain: 'threadTicks' }); // what the page itself has used, however busy the machine is
      const used = async () => (await client.send('Performance.getMetrics')).metrics.find(m => m.name === 'TaskDuration').value * 1000;
      const before = await used();
      await page.say(`long ${words}`);
      await until(
        'all of it is there',
        async () =>
          (
            await page
              .locator('.agent-says .markdown')
              .textContent({ timeout: 1000 })
              .catch(() => '')
          ).split(/\s+/).length >= words,
      );
      costs.push(((await used()) - before) / words);
      await page.leave();
    }
    console.log(`for each word: ${costs.map(c => `${c.toFixed(2)} ms`).join(' of 2,500, ')} of 10,000`);
    assert.ok(
      costs[1] < costs[0] * 2,
      `${costs.join(' and ')}: a page that drew all words again for each one would take four times as much`,
    );
  });
});
