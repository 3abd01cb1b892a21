// The composer: drafts, attachments, commands and files, and what it says when nothing can be sent.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { after, test } from 'node:test';
import { accessible, open, still, stored, until, useChromium, useGateway, withoutSockets } from './lib/page.mjs';
import { overWire } from './lib/wire.mjs';
import { fits, VIEWS } from './lib/views.mjs';

const dir = fs.mkdtempSync(path.join(os.tmpdir(), 'tributary-composer-'));
const READER = 'a-token-of-a-reader-0123456789';
fs.writeFileSync(path.join(dir, 'reader'), READER);

useChromium();
after(() => fs.rmSync(dir, { recursive: true, force: true }));
const work = path.join(dir, 'work');
for (const name of ['src/river.go', 'src/season.go', 'README.md']) {
  fs.mkdirSync(path.dirname(path.join(work, name)), { recursive: true });
  fs.writeFileSync(path.join(work, name), '');
}
const site = useGateway(
  `auth:\n  tokens: [{name: rita, role: viewer, token_file: ${path.join(dir, 'reader')}}]\nagents:\n  demo:\n    cwd: ${work}\n    options: {pace: 2ms}\n  unhurried:\n    adapter: demo\n    options: {pace: 20ms}\n`,
);

const field = page => page.getByRole('textbox', { name: 'Your message' });
const value = page => field(page).inputValue();
const attached = page => page.getByRole('list', { name: 'Goes with this message' });
const alert = page => page.getByRole('alert');
const idOf = page => decodeURIComponent(page.url().split('#/s/')[1].split('/')[0]);
const make = async (agent = 'demo') => {
  const id = randomUUID();
  assert.equal((await site.post('/api/sessions', { id, agent })).status, 201);
  return id;
};
const PIXEL = Buffer.from('iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR4nGNgYPgPAAEDAQAIicLsAAAAAElFTkSuQmCC', 'base64');
const picture = (name = 'pixel.png') => ({ name, mimeType: 'image/png', buffer: PIXEL });
const note = (name = 'notes.txt', words = 'a note') => ({ name, mimeType: 'text/plain', buffer: Buffer.from(words) });
const choose = (page, ...files) => page.locator('input[type=file]').setInputFiles(files);

/** Drops files on the page, or pastes them, as a browser does. */
const give = (page, how, files) =>
  field(page).evaluate(
    (el, [type, list]) => {
      const data = new DataTransfer();
      for (const { name, mimeType, text } of list) data.items.add(new File([text], name, { type: mimeType }));
      el.dispatchEvent(
        type === 'paste'
          ? new ClipboardEvent('paste', { clipboardData: data, bubbles: true, cancelable: true })
          : new DragEvent(type, { dataTransfer: data, bubbles: true, cancelable: true }),
      );
    },
    [how, files],
  );

test('the field grows with its text; Shift+Enter breaks the line, and Enter sends', async () => {
  const page = await open(site);
  const height = () => field(page).evaluate(el => el.clientHeight);
  const low = await height();
  await field(page).pressSequentially('hello');
  for (let i = 0; i < 30; i++) await page.keyboard.press('Shift+Enter');
  assert.ok((await height()) > low * 3, 'it has grown');
  assert.ok((await height()) <= 260, 'not without end');
  await page.keyboard.press('Enter');
  await page.getByText('I am the demo agent').waitFor();
  assert.equal(await value(page), '');
  assert.ok(Math.abs((await height()) - low) < 2, 'it is low again');
  await page.leave();
});

test('a draft stays with its session: over a change of session, a reload, a restart of the gateway', async () => {
  const [one, two] = [await make(), await make()];
  const page = await open(site, `#/s/${one}`);
  await field(page).fill('for one');
  await page.evaluate(to => {
    location.hash = `#/s/${to}`;
  }, two);
  await until('the other has none', async () => (await value(page)) === '');
  await field(page).fill('for two');
  await page.goto(`${site.base}/#/s/${one}`);
  await until('the draft is back', async () => (await value(page)) === 'for one');
  await page.reload();
  await until('the draft is there after a reload', async () => (await value(page)) === 'for one');
  await site.restart('SIGKILL');
  await page.reload();
  await until('the draft is there after a restart', async () => (await value(page)) === 'for one');
  await page.leave();
});

test('the draft of a new chat survives a reload, and is gone once it is sent', async () => {
  const page = await open(site);
  await field(page).fill('hello');
  await choose(page, note());
  await attached(page).getByText('notes.txt').waitFor();
  await stored(page);
  await page.reload();
  await until('the text is there', async () => (await value(page)) === 'hello');
  await attached(page).getByText('notes.txt').waitFor();
  await field(page).press('Enter');
  await page.getByText('I am the demo agent').waitFor();
  await page.reload();
  await page.getByText('I am the demo agent').waitFor();
  assert.equal(await value(page), '');
  assert.equal(await attached(page).count(), 0);
  await page.leave();
});

test('arrow up in an empty field brings back own prompts, arrow down leads back', async () => {
  const page = await open(site);
  for (const [prompt, answer] of [
    ['hello', 'I am the demo agent'],
    ['tool', 'The file says'],
  ]) {
    await page.say(prompt);
    await page.getByText(answer).first().waitFor();
    await until('the turn is over', async () => (await site.get(`/api/sessions/${idOf(page)}`)).json.state === 'idle');
  }
  await until('the page is at rest', async () => (await page.getByRole('button', { name: 'Stop' }).count()) === 0);
  await field(page).press('ArrowUp');
  assert.equal(await value(page), 'tool');
  await field(page).press('ArrowUp');
  assert.equal(await value(page), 'hello');
  await field(page).press('ArrowDown');
  assert.equal(await value(page), 'tool');
  await field(page).fill('something else');
  await field(page).press('ArrowUp');
  assert.equal(await value(page), 'something else');
  await page.leave();
});

test('files come by picker, paste and drop: pictures small, others with their size', async () => {
  const page = await open(site);
  await choose(page, picture(), note());
  await give(page, 'paste', [{ name: 'pasted.md', mimeType: 'text/markdown', text: '# pasted' }]);
  await give(page, 'dragover', [{ name: 'x', mimeType: 'text/plain', text: '' }]);
  await page.locator('.dropping').waitFor();
  await give(page, 'drop', [{ name: 'dropped.json', mimeType: 'application/json', text: '{}' }]);
  await until('all four are there', async () => (await attached(page).getByRole('listitem').count()) === 4);
  assert.equal(await page.locator('.dropping').count(), 0);
  assert.match(await attached(page).innerText(), /notes\.txt\s*6 B/);
  await attached(page).locator('canvas:visible').waitFor();
  await field(page).fill('hello, look');
  await page.keyboard.press('Enter');
  await page.getByText('I am the demo agent').waitFor();
  const shown = async () => {
    const mine = page.getByRole('article', { name: 'You' });
    await mine.getByText('hello, look').waitFor();
    await mine.getByRole('img').first().waitFor();
    for (const name of ['notes.txt', 'pasted.md', 'dropped.json']) await mine.getByText(name).first().waitFor();
  };
  await shown();
  await page.reload();
  await shown();
  const [message] = await site.history(idOf(page));
  assert.deepEqual(
    message.parts.map(p => p.filename ?? p.text),
    ['pixel.png', 'notes.txt', 'pasted.md', 'dropped.json', 'hello, look'],
  );
  assert.equal(message.parts[1].url, `data:text/plain;base64,${Buffer.from('a note').toString('base64')}`);
  await page.leave();
});

test('the keyboard alone removes files', async () => {
  const page = await open(site);
  await choose(page, note('one.txt'), note('two.txt'), note('three.txt'));
  await attached(page).getByText('three.txt').waitFor();
  await field(page).press('Backspace');
  await page.keyboard.press('Delete');
  await until('the last is gone', async () => (await attached(page).getByText('three.txt').count()) === 0);
  await page.keyboard.press('Backspace');
  await page.keyboard.press('Enter');
  await until('all are gone', async () => (await attached(page).count()) === 0);
  assert.equal(await field(page).evaluate(el => el === document.activeElement), true);
  await page.leave();
});

const offers = page => page.getByRole('option');
/** A session whose workspace has files. asked: what the page wanted to know of them. The answer to the letter s comes when answer() is called. */
async function offering(options) {
  const id = await make(),
    asked = [];
  let controls, answer, first;
  const late = new Promise(resolve => {
    answer = resolve;
  });
  const page = await open(site, `#/s/${id}`, {
    ...options,
    prepare: p => {
      controls = p.waitForResponse('**/controls');
      return p.route('**/files?*', async route => {
        const q = new URL(route.request().url()).searchParams.get('q');
        asked.push(q);
        if (q === 's') {
          first = route.request();
          await late;
        }
        await route.continue().catch(() => {}); // the page has given it up
      });
    },
  });
  await controls;
  await field(page).waitFor();
  /** Lets the answer to the first letter go, and waits until the page has it, or has given it up. */
  const answerLate = async () => {
    answer();
    await first.response();
    await still(page);
  };
  return { page, id, asked, answerLate };
}

test('/ at the beginning lists the agent’s commands; arrows choose, Tab and Enter take, Escape closes', async () => {
  const id = await make(),
    page = await open(site, `#/s/${id}`);
  await page.say('hello');
  await page.getByText('I am the demo agent').waitFor();
  await until('the agent’s commands are known', async () => (await site.get(`/api/sessions/${id}/controls`)).json.commands?.length > 0);
  const names = async () => (await offers(page).allInnerTexts()).map(t => t.split('\n')[0]).join();
  await field(page).pressSequentially('/');
  await until('all are listed', async () => (await names()) === '/help,/about,/review,/long number of words,/huge number of MB');
  await field(page).pressSequentially('e');
  await until('those that match', async () => (await names()) === '/help,/review,/huge number of MB');
  const active = () => field(page).evaluate(el => document.getElementById(el.getAttribute('aria-activedescendant'))?.textContent);
  assert.match(await active(), /^\/help/);
  await page.keyboard.press('ArrowDown');
  assert.match(await active(), /^\/review/);
  await page.keyboard.press('ArrowUp');
  await page.keyboard.press('ArrowUp');
  assert.match(await active(), /^\/huge/);
  await page.keyboard.press('Tab');
  assert.equal(await value(page), '/huge ');
  assert.equal(await offers(page).count(), 0);
  await field(page).fill('');
  await field(page).pressSequentially('/l');
  await offers(page).first().waitFor();
  await page.keyboard.press('Escape');
  await until('the list is closed', async () => (await offers(page).count()) === 0);
  assert.equal(await value(page), '/l', 'the draft stays');
  await field(page).pressSequentially('ong');
  assert.equal(await offers(page).count(), 0, 'it stays closed');
  await field(page).fill('not a command /');
  assert.equal(await offers(page).count(), 0);
  await field(page).fill('');
  await field(page).pressSequentially('/rev');
  await offers(page).first().waitFor();
  await page.keyboard.press('Enter');
  await page.keyboard.press('Enter');
  await page.getByText('I changed four files').waitFor();
  await page.leave();
});

test('a new chat offers the commands that its agent had when it was seen last', async () => {
  await site.post('/api/chat', {
    id: await make(),
    messages: [{ id: randomUUID(), role: 'user', parts: [{ type: 'text', text: 'hello' }] }],
  });
  const page = await open(site);
  await until('the gateway knows them', async () => (await site.get('/api/agents')).json.agents.some(a => a.default && a.commands));
  await field(page).waitFor();
  await until('they are listed', async () => {
    await field(page).fill('');
    await field(page).pressSequentially('/');
    return (await offers(page).count()) > 0;
  });
  await page.leave();
});

test('@ lists files of the workspace while one types; a late answer does not count', async () => {
  const { page, asked, answerLate } = await offering();
  await field(page).fill('look at ');
  await field(page).pressSequentially('@s');
  await until('the first letter is a question', () => asked.includes('s'));
  await field(page).evaluate(box => {
    // two letters at once, however busy the machine is
    for (const letter of 'ea') {
      box.setRangeText(letter, box.selectionStart, box.selectionEnd, 'end');
      box.dispatchEvent(new InputEvent('input', { bubbles: true }));
    }
  });
  await until('one file matches', async () => (await offers(page).allInnerTexts()).join().includes('season.go'));
  await answerLate();
  assert.equal(await offers(page).count(), 1, 'the answer to the first letter came too late');
  assert.deepEqual(asked.filter(Boolean), ['s', 'sea'], 'not each letter is a question');
  await page.keyboard.press('Enter');
  assert.equal(await value(page), 'look at @src/season.go ');
  await field(page).pressSequentially('and @READ');
  await offers(page).first().click();
  assert.equal(await value(page), 'look at @src/season.go and @README.md ');
  await page.leave();
});

for (const name of Object.keys(VIEWS)) {
  test(`the list at the caret can be used by everybody (${name})`, async () => {
    const { page } = await offering(VIEWS[name]);
    await field(page).pressSequentially('look at @');
    await until('all are listed', async () => (await offers(page).count()) === 3);
    await accessible(page, 'a list at the caret');
    await fits(page);
    await page.leave();
  });
}

test('a message without text sends its files, and source files count as text', async () => {
  const page = await open(site);
  await give(page, 'paste', [
    { name: 'main.ts', mimeType: 'video/mp2t', text: 'const a = 1;' },
    { name: 'Makefile', mimeType: '', text: 'all:' },
  ]);
  await attached(page).getByText('Makefile').waitFor();
  await page.getByRole('button', { name: 'Send', exact: true }).click();
  await page.getByText('I am the demo agent').waitFor();
  const [message] = await site.history(idOf(page));
  assert.deepEqual(
    message.parts.map(p => [p.filename, p.mediaType]),
    [
      ['main.ts', 'text/plain'],
      ['Makefile', 'text/plain'],
    ],
  );
  await page.leave();
});

test('200 files at once get a sentence, and the draft stays', async () => {
  const page = await open(site);
  await field(page).fill('a draft');
  await choose(page, ...Array.from({ length: 200 }, (_, i) => note(`file-${i}.txt`)));
  await alert(page).getByText('50 of 200 files are attached: a message takes 50.').waitFor();
  assert.equal(await attached(page).getByRole('listitem').count(), 50);
  assert.equal(await value(page), 'a draft');
  for (const how of ['paste', 'drop']) {
    // those that are attached stay
    await give(
      page,
      how,
      Array.from({ length: 200 }, (_, i) => ({ name: `${how}-${i}.txt`, mimeType: 'text/plain', text: 'a note' })),
    );
    await alert(page).getByText('0 of 200 files are attached: a message takes 50.').waitFor();
    assert.equal(
      await attached(page)
        .getByText(/^file-/)
        .count(),
      50,
    );
  }
  await stored(page);
  await page.reload();
  await until('the files are there', async () => (await attached(page).getByRole('listitem').count()) === 50);
  assert.equal(await value(page), 'a draft');
  await accessible(page, 'many files');
  await fits(page);
  await page.leave();
});

test('files that are too large together get a sentence before anything is sent', async () => {
  const page = await open(site);
  await field(page).fill('a draft');
  fs.writeFileSync(path.join(dir, 'large.bin'), Buffer.alloc(30 << 20));
  await page.locator('input[type=file]').setInputFiles([path.join(dir, 'large.bin')]);
  await alert(page).getByText('large.bin did not fit: the files of a message may have 25 MB together.').waitFor();
  assert.equal(await attached(page).count(), 0);
  assert.equal(await value(page), 'a draft');
  await page.leave();
});

test('a message of 20 MB goes out whole', async () => {
  const page = await open(site);
  fs.writeFileSync(path.join(dir, 'twenty.bin'), Buffer.alloc(20 << 20, 7));
  await page.locator('input[type=file]').setInputFiles([path.join(dir, 'twenty.bin')]);
  await attached(page).getByText('21 MB').waitFor();
  await field(page).fill('hello');
  await page.keyboard.press('Enter');
  await page.getByText('I am the demo agent').waitFor();
  assert.equal(await alert(page).count(), 0);
  await page.leave();
});

test('a person who may only read is told so in the place of the draft', async () => {
  const id = await make();
  for (const hash of ['', `#/s/${id}`]) {
    const page = await open({ ...site, token: READER }, hash);
    await page.getByText(/^You may read/).waitFor();
    assert.equal(await field(page).isDisabled(), true);
    assert.equal(await page.getByRole('button', { name: 'Send', exact: true }).isDisabled(), true);
    await accessible(page, 'a reader’s page');
    await page.leave();
  }
});

test('a sign-in that ends in the middle of a turn loses no draft', async () => {
  const id = await make('unhurried'),
    page = await open(site, `#/s/${id}`, { prepare: withoutSockets });
  await page.say('slow');
  await page.getByRole('button', { name: 'Stop' }).waitFor();
  await choose(page, note());
  await attached(page).getByText('notes.txt').waitFor();
  await field(page).fill('what I was writing');
  const asked = new Promise(resolve => {
    void page.route('**/api/chat?*', resolve);
  });
  await page.keyboard.press('Enter');
  const prompt = await asked; // it is on its way, and the field is empty
  assert.equal(await value(page), '');
  await page.evaluate(() =>
    fetch('/auth/sign-out', { method: 'POST', headers: { 'X-Tributary-Page': localStorage.getItem('tributary-page') } }),
  );
  await prompt.continue();
  await until(
    'the draft is back',
    async () => (await page.locator('textarea[aria-label="Your message"]').inputValue()) === 'what I was writing',
  ); // a dialog may stand before it
  await page.unroute('**/api/chat?*');
  await page.goto(`${site.base}/?token=${encodeURIComponent(site.token)}`);
  await page.goto(`${site.base}/#/s/${id}`);
  await until('the draft is there after the next sign-in', async () => (await value(page)) === 'what I was writing');
  await attached(page).getByText('notes.txt').waitFor();
  await page.leave();
});

test('a prompt on its way when the page is loaded again is a draft again, with its files', async () => {
  for (const hash of ['', `#/s/${await make('unhurried')}`]) {
    const page = await open(site, hash, { prepare: withoutSockets });
    if (hash) {
      await page.say('slow');
      await page.getByText('Queue').waitFor();
    }
    const asked = new Promise(resolve => {
      void page.route('**/api/chat?*', resolve);
    }); // the prompt does not arrive
    await choose(page, note());
    await attached(page).getByText('notes.txt').waitFor();
    await page.say('half way');
    await asked;
    assert.equal(await value(page), '');
    await stored(page);
    await page.reload();
    await page.unroute('**/api/chat?*');
    await until('the prompt is a draft', async () => (await value(page)) === 'half way');
    await attached(page).getByText('notes.txt').waitFor();
    await field(page).fill('hello');
    await field(page).press('Enter');
    await until('the draft goes out', async () =>
      (await site.history(idOf(page)).catch(() => [])).some(
        m => m.role === 'user' && m.parts.some(p => p.text === 'hello') && m.parts.some(p => p.filename === 'notes.txt'),
      ),
    );
    await page.reload();
    await page.getByText('I am the demo agent').waitFor();
    assert.equal(await value(page), '');
    await page.leave();
  }
});

test('a prompt that has arrived when the page is loaded again is no draft', async () => {
  const id = await make(),
    page = await open(site, `#/s/${id}`, { prepare: withoutSockets });
  await page.route('**/api/chat?*', async route => {
    const request = route.request(),
      { 'accept-encoding': _, ...headers } = await request.allHeaders();
    await fetch(request.url(), { method: 'POST', headers, body: request.postData() }); // the gateway has the prompt, and the page no answer
  });
  await page.say('hello');
  await until('the turn is over', async () => (await site.history(id)).length === 2);
  await page.reload();
  await page.unroute('**/api/chat?*');
  await page.getByText('I am the demo agent').waitFor();
  await until('the browser keeps the prompt no longer', () =>
    page.evaluate(() => !Object.keys(localStorage).some(key => key.includes('outgoing'))),
  );
  assert.equal(await value(page), '');
  await page.leave();
});

test('while the network is away a prompt comes back as a draft, with its files, and goes out later', async () => {
  const id = await make(),
    wire = await overWire(site),
    page = await open(wire, `#/s/${id}`);
  await page.say('hello');
  await page.getByText('I am the demo agent').waitFor();
  await page.getByRole('button', { name: 'Stop', exact: true }).waitFor({ state: 'detached' });
  wire.cut();
  await choose(page, note());
  await attached(page).getByText('notes.txt').waitFor();
  await field(page).fill('tool');
  await page.keyboard.press('Enter');
  await alert(page).getByText('The gateway cannot be reached.').waitFor();
  assert.equal(await value(page), 'tool');
  await attached(page).getByText('notes.txt').waitFor();
  await accessible(page, 'a prompt that did not go out');
  wire.mend();
  await until('the sentence goes', async () => (await alert(page).count()) === 0);
  await field(page).press('Enter');
  await page.getByText('The file says').waitFor();
  assert.equal(await value(page), '');
  await page.leave();
});

test('a network that is lost and comes back in the middle of a turn leaves no sentence behind', async () => {
  const wire = await overWire(site),
    page = await open(wire, `#/s/${await make()}`);
  await page.say('slow');
  await page.getByText('many streams').waitFor();
  wire.cut();
  await page.say('hello');
  await alert(page).getByText('The gateway cannot be reached.').waitFor();
  assert.equal(await value(page), 'hello');
  wire.mend();
  await until('the sentence goes', async () => (await alert(page).count()) === 0);
  assert.equal(await value(page), 'hello');
  await page.leave();
});

test('a prompt that the gateway refuses comes back as a draft, before what was typed meanwhile', async () => {
  const page = await open(site, '', { prepare: withoutSockets });
  await page.route('**/api/chat?*', async route => {
    await field(page).fill('typed meanwhile');
    await route.fulfill({ status: 503, contentType: 'text/plain', body: 'The gateway is shutting down: try again in a moment.' });
  });
  await page.say('not taken');
  await alert(page).getByText('The gateway is shutting down: try again in a moment.').waitFor();
  assert.equal(await value(page), 'not taken\n\ntyped meanwhile');
  assert.equal(await page.getByRole('article').count(), 0);
  await page.leave();
});

test('while the agent waits for an answer, the field says what a message would do', async () => {
  const page = await open(site);
  await page.say('approve');
  await page.getByText('The agent waits for your answer.').waitFor();
  assert.equal(await field(page).getAttribute('placeholder'), 'Answer here, or send something else to end the turn');
  await page.leave();
});

test('a gateway that restarts under the page loses no draft', async () => {
  const id = await make(),
    page = await open(site, `#/s/${id}`);
  await page.say('hello');
  await page.getByText('I am the demo agent').waitFor();
  await field(page).fill('half a thou');
  await site.restart('SIGKILL');
  await field(page).pressSequentially('ght');
  assert.equal(await value(page), 'half a thought');
  await field(page).fill('tool');
  await until('it is sent', async () => {
    if ((await value(page)) === 'tool') await field(page).press('Enter');
    return (await page.getByText('The file says').count()) > 0;
  });
  await page.leave();
});

for (const [name, view] of Object.entries(VIEWS)) {
  test(`the composer with files can be used by everybody (${name})`, async () => {
    const page = await open(site, '', view);
    await choose(page, picture('a picture with a long name that does not fit on a phone.png'), note());
    await field(page).fill('a draft\nof two lines');
    await attached(page).locator('canvas:visible').waitFor();
    await accessible(page, 'a draft with files');
    await fits(page);
    await page.leave();
  });
}
