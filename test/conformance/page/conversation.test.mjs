// The conversation as a person meets it: where it scrolls, who answered, what a stop, a failure and a lost gateway do.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { describe, test } from 'node:test';
import { accessible, glimpse, open, scrollUp, still, until, useChromium, useGateway } from './lib/page.mjs';
import { asks, says, show } from './lib/show.mjs';
import { overWire } from './lib/wire.mjs';

useChromium();
const site = useGateway();

const box = page => page.locator('.scroll');
const place = page =>
  box(page).evaluate(el => ({ top: el.scrollTop, left: el.scrollHeight - el.scrollTop - el.clientHeight, height: el.clientHeight }));
/** Waits until so many characters more of the answer are on the page. */
const more = async (page, characters = 600) => {
  const length = async () => (await page.locator('article.agent-says').last().textContent()).length;
  const before = await length();
  await until('more of the answer is there', async () => (await length()) > before + characters);
};
const over = async page => {
  const id = await until('the session has its address', () => new URL(page.url()).hash.slice('#/s/'.length));
  await until('the turn is over', async () => (await site.get(`/api/sessions/${id}`)).json.state === 'idle');
  await page.locator('[role=log][aria-busy=false]').waitFor();
  return id;
};
const asked = page => page.getByText('The agent waits for your answer.').waitFor();

describe('the live edge', () => {
  test('is followed until a reader scrolls up, and a button leads back to it', async () => {
    const page = await open(site, '', { viewport: { width: 800, height: 500 } });
    await page.say('long 10000'); // until it is stopped
    await until('the answer is longer than the window', async () => (await place(page)).top > 300);
    await until('the end is in view', async () => (await place(page)).left < 24);
    const { top } = await scrollUp(page, 250);
    await more(page);
    assert.equal((await place(page)).top, top, 'the reader stays where they are');
    await page.getByRole('button', { name: 'Follow the answer' }).click();
    await until('the end is in view again', async () => (await place(page)).left < 24);
    await page.getByRole('button', { name: /^Stop/ }).click();
    await over(page);
    await until('the end is in view at the end, too', async () => (await place(page)).left < 24);
    await page.leave();
  });

  test('lets a reader go who scrolls up while a long piece of the answer comes at once', async () => {
    const page = await open(site, '', { viewport: { width: 800, height: 500 } });
    await page.say('long 10000');
    await until('the answer is longer than the window', async () => (await place(page)).top > 300);
    const { before, top } = await page.evaluate(
      () =>
        new Promise(done => {
          const el = document.querySelector('.scroll');
          let { scrollHeight, scrollTop } = el,
            sleeps = true;
          // What a wheel does on a slow computer: it moves the place between the drawing of a piece and the event of its scroll.
          new MutationObserver((_, observer) => {
            const grown = el.scrollHeight - scrollHeight;
            if (grown > 120) {
              observer.disconnect();
              const before = scrollTop;
              el.scrollTop -= 100;
              return done({ before, top: el.scrollTop });
            }
            ({ scrollHeight, scrollTop } = el);
            if (sleeps) for (const end = performance.now() + 1500; performance.now() < end; );
            sleeps = grown === 0;
          }).observe(document.querySelector('[role=log]'), { subtree: true, childList: true, characterData: true });
        }),
    );
    assert.ok(top > before, `the piece was longer than the way of the reader: ${before}, ${top}`);
    await more(page);
    assert.equal((await place(page)).top, top, 'the reader stays where they are');
    await page.getByRole('button', { name: /^Stop/ }).click();
    await page.leave();
  });

  test('is the place of a session that is opened', async () => {
    const page = await show(
      site,
      Array.from({ length: 60 }, (_, i) => [asks(`question ${i}`), says(`answer ${i}\n\n${'word '.repeat(60)}`)]).flat(),
    );
    await page.getByText('answer 59').waitFor();
    await until('the end is in view', async () => (await place(page)).left < 24);
    assert.equal(await page.locator('.jump').count(), 0);
    await page.leave();
  });

  test('a new prompt stands at the top of the window', async () => {
    const page = await open(site);
    await page.say('hello');
    await over(page);
    await page.say('tool');
    await over(page);
    let top;
    await until(
      () => `the prompt, which is ${top} px below it, is at the top`,
      async () => {
        top = await page
          .locator('.message.user')
          .last()
          .evaluate(el => el.getBoundingClientRect().top - el.closest('.scroll').getBoundingClientRect().top);
        return top >= 0 && top < 60;
      },
    );
    await page.leave();
  });

  test('earlier pages keep the place of what was read', async () => {
    const pages = [2, 1, 0].map(n =>
      Array.from({ length: 20 }, (_, i) => [asks(`question ${n}-${i}`), says(`answer ${n}-${i}\n\n${'word '.repeat(10 + 7 * i)}`)]).flat(),
    );
    const page = await show(site, pages[0], { before: pages.slice(1) });
    for (const n of [2, 1]) {
      const first = page.getByText(`question ${n}-0`, { exact: true });
      const button = page.getByRole('button', { name: 'Earlier messages' });
      await button.scrollIntoViewIfNeeded();
      const before = (await first.boundingBox()).y;
      await button.click();
      await page.getByText(`answer ${n - 1}-19`).waitFor({ state: 'attached' });
      await still(page);
      assert.ok(Math.abs((await first.boundingBox()).y - before) < 3, `it was at ${before}, and is at ${(await first.boundingBox()).y}`);
    }
    assert.equal(await page.getByRole('button', { name: 'Earlier messages' }).count(), 0);
    await page.leave();
  });
});

test('a long prompt is shown from its beginning, and whole on request', async () => {
  const page = await show(site, [asks(Array.from({ length: 200 }, (_, i) => `line ${i}`).join('\n')), says('ok')]);
  const prompt = page.locator('.prompt');
  await prompt.waitFor();
  assert.ok(!(await prompt.textContent()).includes('line 199'));
  await prompt.getByRole('button', { name: 'Show all' }).click();
  await page.getByText('line 199').waitFor();
  await page.leave();
});

describe('what was asked', () => {
  test('shows who has decided what, at once and after a reload, while other requests wait', async () => {
    const page = await open(site);
    await page.say('mixed');
    await asked(page);
    await page.getByRole('button', { name: 'red', exact: true }).click();
    await page.locator('.answered', { hasText: 'red' }).waitFor();
    await page
      .getByRole('button', { name: /^Allow\b/ })
      .first()
      .click();
    await page.getByText('Allowed by you').first().waitFor();
    const deny = page.locator('.ask-options').getByRole('button', { name: /^Deny\b/ }),
      buttons = () => deny.count();
    await until('one request is left', async () => (await buttons()) === 1);
    assert.equal(await page.getByRole('button', { name: 'red', exact: true }).count(), 0);
    await accessible(page, 'a turn that waits');
    await page.reload();
    await asked(page);
    await page.getByText('Allowed by you').first().waitFor();
    await until('one request is left', async () => (await buttons()) === 1 && (await page.locator('.answered').count()) === 1);
    await deny.click();
    await page.getByText('Denied by you').waitFor();
    await over(page);
    await page.reload();
    await page.getByText('Denied by you').waitFor();
    assert.equal(await page.getByText('Allowed by you').count(), 1);
    await page.leave();
  });

  test('an answered question has no choices while another one waits, also after a reload', async () => {
    const page = await open(site);
    await page.say('several');
    await asked(page);
    await page.getByRole('button', { name: 'green', exact: true }).click();
    await page.locator('.answered', { hasText: 'green' }).waitFor();
    const green = page.getByRole('button', { name: 'green', exact: true });
    assert.equal(await green.count(), 0);
    await page.reload();
    await asked(page);
    assert.equal(await green.count(), 0);
    await page.leave();
  });

  test('two permissions at the same time are two cards, with the command and nothing of the protocol', async () => {
    const page = await open(site);
    await page.say('both');
    for (const command of ['one', 'two']) {
      const ask = page.getByRole('group', { name: new RegExp(`echo ${command}`) });
      await ask.waitFor();
      assert.equal(await page.getByText('request_id').count(), 0);
      await until('nothing runs', async () => (await page.locator('.tool.is-running').count()) === 0);
      await ask
        .getByRole('button', { name: /^Allow\b/ })
        .first()
        .click();
    }
    await over(page);
    await until('both are done', async () => (await page.locator('.tool .state').allTextContents()).join() === 'done,done');
    assert.equal(await page.getByText('Allowed by you').count(), 2);
    await page.leave();
  });

  test('a request that the agent withdraws does not read as a refusal', async () => {
    await site.post('/api/sessions', { id: 'withdrawn', agent: 'unhurried' });
    const page = await open(site, '#/s/withdrawn');
    const asks = await glimpse(page, 'button', 'Allow');
    await page.say('withdraw');
    await asks();
    await page.getByText('withdrawn').first().waitFor();
    assert.equal(await page.getByText('Denied').count(), 0);
    await over(page);
    await page.leave();
  });

  for (const [prompt, button, then] of [
    ['approve', /^Allow\b/, 'I was allowed to run it'],
    ['ask', 'green', 'You chose green.'],
    ['approve', /^Stop/, 'Stopped.'],
  ]) {
    test(`the keyboard keeps its place when the button goes that was pressed: ${then}`, async () => {
      const page = await open(site);
      await page.say(prompt);
      await asked(page);
      const it = page.getByRole('button', { name: button }).first();
      await it.focus();
      await page.keyboard.press('Enter');
      await page.getByText(then).first().waitFor();
      assert.ok(
        await page.evaluate(() => document.querySelector('main').contains(document.activeElement)),
        'something of the page has the focus',
      );
      await page.leave();
    });
  }

  test('a turn that waits is stopped', async () => {
    const page = await open(site);
    await page.say('approve');
    await asked(page);
    await page.getByRole('button', { name: /^Stop/ }).click();
    await page.getByText('Stopped.', { exact: true }).waitFor();
    await over(page);
    assert.equal(await page.getByRole('button', { name: /^Allow\b/ }).count(), 0);
    assert.equal(await page.locator('.tool .state').last().textContent(), 'stopped');
    await page.leave();
  });
});

describe('trouble', () => {
  test('a failed turn is tried again by a click', async () => {
    const page = await open(site);
    await page.say('error');
    await page.getByText('This turn failed.').waitFor();
    const id = await over(page);
    const turns = async () =>
      (await site.get(`/api/sessions/${id}/trace`)).text.split('\n').filter(l => l.includes('"type":"stop"')).length;
    assert.equal(await turns(), 1);
    await page.getByRole('button', { name: 'Try again' }).click();
    await until('the turn has run again', async () => (await turns()) === 2);
    await page.getByText('This turn failed.').waitFor();
    assert.equal(await page.locator('article.user').count(), 1, 'the prompt stands there once');
    assert.equal(await page.locator('article.agent-says').count(), 1, 'so does its answer');
    await page.leave();
  });

  test('a message that is sent while the gateway is away is not lost, and a click sends it', async () => {
    const wire = await overWire(site),
      page = await open(wire);
    await page.say('hello');
    await over(page);
    const told = await glimpse(page, '[role=alert]', 'The gateway cannot be reached.'),
      draft = () => page.getByRole('textbox', { name: 'Your message' }).inputValue();
    wire.cut();
    await page.say('tool');
    await told();
    await until('it is a draft again', async () => (await draft()) === 'tool');
    wire.mend();
    await until('a click has sent it', async () => {
      // Chromium may use a connection for it that it has opened while the wire was cut. Then it is a draft again.
      if ((await draft()) === 'tool') await page.getByRole('button', { name: /^Send/ }).click();
      return (await page.getByText('The file says').count()) > 0;
    });
    assert.equal(await page.locator('article.user').count(), 2);
    await page.leave();
  });

  test('an answer goes on after the network was away', async () => {
    const page = await open(site);
    await page.say('slow 200');
    await until(
      'the answer has begun',
      async () =>
        (
          await page
            .locator('article.agent-says')
            .textContent()
            .catch(() => '')
        ).length > 40,
    );
    await page.context().setOffline(true);
    await more(page, 40);
    await page.context().setOffline(false);
    await over(page);
    assert.equal(await page.locator('article.agent-says').count(), 1);
    assert.equal(await page.getByText('cannot be reached').count(), 0);
    await page.leave();
  });

  test('an address of no session says so', async () => {
    const page = await open(site, '#/s/there-is-none');
    await page.getByText('There is no session at this address').waitFor();
    await accessible(page, 'an unknown address');
    await page.leave();
  });
});

test('a screen reader hears of the end of an answer, and not of each word', async () => {
  await site.post('/api/sessions', { id: 'heard', agent: 'patient' }); // the fewer words, the less is drawn meanwhile
  const page = await open(site, '#/s/heard');
  await page.say('clock 9000'); // until it is stopped
  const log = page.getByRole('log');
  await page.locator('[role=log][aria-busy=true]').waitFor();
  assert.equal(await log.locator('[role=status]').count(), 1, 'one line says that the agent works');
  assert.equal(await log.locator('[aria-live]').count(), 0, 'nothing in it calls out by itself');
  await accessible(page, 'an answer that comes');
  await page.getByRole('button', { name: /^Stop/ }).click();
  await page.locator('[role=log][aria-busy=false]').waitFor();
  await page.leave();
});

test('the plan stands above the composer while its turn runs, and in its message afterwards', async () => {
  await site.post('/api/sessions', { id: 'planned', agent: 'patient' });
  const page = await open(site, '#/s/planned');
  const pinned = page.getByRole('region', { name: 'Plan' }),
    stands = await glimpse(page, '[aria-label="Plan"]', 'of 3 done');
  await page.say('plan');
  await stands();
  await over(page);
  assert.equal(await pinned.count(), 0);
  await page.getByText('Plan, 3 of 3 done').click();
  await page.getByText('Think about it').waitFor();
  await page.leave();
});

describe('a request that waits', () => {
  test('has no buttons any more as soon as another prompt has gone out', async () => {
    const id = randomUUID();
    await site.post('/api/sessions', { id, agent: 'unhurried' });
    const page = await open(site, `#/s/${id}`);
    await page.say('approve');
    await page.getByRole('button', { name: /^Allow/ }).waitFor();
    await page.say('slow 10000');
    await page.getByText('can no longer be answered').waitFor();
    assert.equal(await page.getByRole('button', { name: /^Allow/ }).count(), 0);
    // The page says so before the gateway has the prompt. A turn that has ended runs no more.
    await until('the turn after it runs still', async () => (await site.get(`/api/sessions/${id}`)).json.state === 'running');
    await page.leave();
  });

  test('stands in the conversation, also if another one is asked first', async () => {
    const page = await open(site);
    await page.say('mixed');
    const others = page.getByRole('region', { name: 'Other requests that wait' });
    await others.getByText('2 more requests wait:').waitFor();
    assert.equal(await others.getByRole('group', { name: /^Permission: / }).count(), 2);
    await accessible(page, 'a question and two permissions');
    await others
      .getByRole('button', { name: /^Allow/ })
      .first()
      .click();
    await others.getByText('One more request waits:').waitFor();
    await page.reload();
    await others.getByText('One more request waits:').waitFor();
    await others.getByRole('button', { name: /^Allow/ }).click();
    await until('none is left beside the question', async () => (await others.count()) === 0);
    await page
      .getByRole('form', { name: /^Question: / })
      .getByRole('button')
      .first()
      .click();
    await over(page);
    await page.leave();
  });
});
