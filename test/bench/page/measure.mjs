// Measures the gateway's page in Chromium beside assistant-ui's thread, in turns: the time to the first paint and to the first word of an answer, and
// the memory of a session of 1,000 messages. Both are over one gateway, whose demo agent has written all answers.
//
//   node measure.mjs [GATEWAY] [ROUNDS]
import { spawn } from 'node:child_process';
import fs from 'node:fs';
import http from 'node:http';
import os from 'node:os';
import path from 'node:path';
import { chromium } from 'playwright-core';
import { build } from 'esbuild';
import { inChromium } from '../../conformance/lib/chromium.mjs';

const HERE = path.dirname(new URL(import.meta.url).pathname);
const [binary = path.join(HERE, '../../../bin/tributary'), rounds = '5'] = process.argv.slice(2);
const TURNS = 500;

const dir = fs.mkdtempSync(path.join(os.tmpdir(), 'tributary-bench-page-'));
const closing = [() => fs.rmSync(dir, { recursive: true, force: true })];
try {
  console.log(table(await measure()));
} finally {
  for (const close of closing.reverse()) await close();
}

async function measure() {
  const gateway = await startGateway(),
    long = 'long-session';
  process.stderr.write(`${2 * TURNS} messages …\n`);
  await fill(gateway, long);
  const thread = await serveThread(gateway);
  const pages = {
    'the page': { signIn: signIn(`${gateway.base}/?token=${gateway.token}`), address: id => `${gateway.base}/#/s/${id}`, all: showAll },
    'assistant-ui': { signIn: async () => {}, address: id => `${thread}/#${id}`, all: async () => {} },
  };
  const browser = await chromium.launch(inChromium('--enable-precise-memory-info'));
  closing.push(() => browser.close());
  const figures = {};
  const add = (what, page, value) => {
    ((figures[what] ??= {})[page] ??= []).push(value);
  };
  for (let round = 0; round < Number(rounds); round++) {
    process.stderr.write(`round ${round + 1}\n`);
    for (const [name, page] of Object.entries(pages)) {
      for (const [what, value] of Object.entries(await once(browser, page, long, `new-${round}-${name.replaceAll(' ', '-')}`)))
        add(what, name, value);
    }
  }
  return figures;
}

/** One visit of a page: to a new session, and to the long one. */
async function once(browser, { signIn, address, all }, long, fresh) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 } });
  try {
    const page = await context.newPage(),
      client = await context.newCDPSession(page);
    await signIn(page);
    await page.goto('about:blank');
    await page.goto(address(fresh));
    const field = page.getByRole('textbox', { name: 'Your message' });
    await field.waitFor();
    const painted = await page.evaluate(
      () =>
        new Promise(done =>
          new PerformanceObserver(list => {
            const paint = list.getEntriesByName('first-contentful-paint')[0];
            if (paint) done(paint.startTime);
          }).observe({ type: 'paint', buffered: true }),
        ),
    );
    await field.fill('hello');
    const first = page.evaluate(
      () =>
        new Promise(done => {
          let at = 0;
          addEventListener(
            'keydown',
            () => {
              at = performance.now();
            },
            { capture: true, once: true },
          );
          new MutationObserver(() => {
            if (document.body.innerText.includes('Hello!')) done(performance.now() - at);
          }).observe(document.body, { childList: true, subtree: true, characterData: true });
        }),
    );
    await field.press('Enter');
    const word = await first;

    await page.goto('about:blank');
    const began = performance.now();
    await page.goto(address(long));
    await page
      .getByText(`answer ${TURNS - 1} `)
      .first()
      .waitFor();
    const ready = performance.now() - began;
    await all(page);
    await page.getByText('answer 0 ').first().waitFor({ state: 'attached' });
    await client.send('HeapProfiler.collectGarbage');
    const { usedSize } = await client.send('Runtime.getHeapUsage');
    const nodes = await page.evaluate(() => document.querySelectorAll('*').length);
    return {
      'first paint, new session (ms)': painted,
      'first word of an answer (ms)': word,
      'newest of 1,000 messages is seen (ms)': ready,
      'heap with 1,000 messages on the page (MB)': usedSize / 1e6,
      'elements of the document, thousands': nodes / 1000,
    };
  } finally {
    await context.close();
  }
}

/** Signs in at an address: the page has its secret when it shows its field. */
function signIn(url) {
  return async page => {
    await page.goto(url);
    await page.getByRole('textbox', { name: 'Your message' }).waitFor();
  };
}

/** Reads all earlier pages of the session. */
async function showAll(page) {
  const earlier = page.getByRole('button', { name: 'Earlier messages' });
  for (let i = 0; i < 20 && (await earlier.count()); i++) {
    await earlier.click();
    await page.waitForTimeout(300);
  }
}

async function startGateway() {
  const config = path.join(dir, 'tributary.yaml'),
    data = path.join(dir, 'data'),
    work = path.join(dir, 'work');
  fs.mkdirSync(work);
  fs.writeFileSync(config, 'agents: {demo: {options: {pace: 0s}}, echo: {}}\nlimits: {requests: none, streams: none}\n');
  const child = spawn(binary, ['serve', '--agent', 'demo', '--config', config, '--listen', '127.0.0.1:0', '--data', data, '--cwd', work], {
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  closing.push(
    () =>
      new Promise(done => {
        child.on('exit', done);
        child.kill('SIGTERM');
      }),
  );
  const base = await new Promise((done, failed) => {
    let out = '';
    child.stdout.on('data', d => {
      const url = /https?:\/\/[^\s/]+/.exec((out += d))?.[0];
      if (url) done(url);
    });
    child.on('exit', code => failed(new Error(`the gateway ended with ${code}`)));
  });
  return { base, token: fs.readFileSync(path.join(data, 'token'), 'utf8').trim() };
}

/** Fills a session with prompts of some Markdown; the agent echo answers with the same. */
async function fill({ base, token }, id) {
  for (let i = 0; i < TURNS; i++) {
    const text = `answer ${i} of **many**\n\n- a list with \`code\`\n- and a [link](https://example.com/${i})\n\n\`\`\`js\nconst n = ${i};\n\`\`\`\n\n${'Some more words of an ordinary answer. '.repeat(6)}`;
    const res = await fetch(`${base}/api/chat?agent=echo`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}` },
      body: JSON.stringify({ id, messages: [{ id: `u${i}`, role: 'user', parts: [{ type: 'text', text }] }] }),
    });
    if (!res.ok) throw new Error(await res.text());
    await res.arrayBuffer();
  }
}

/** Serves the thread on a port of its own, and passes /api on with the token. */
async function serveThread({ base, token }) {
  const {
    outputFiles: [script],
  } = await build({
    entryPoints: [path.join(HERE, 'thread.jsx')],
    bundle: true,
    minify: true,
    format: 'esm',
    jsx: 'automatic',
    write: false,
    target: 'es2022',
    define: { 'process.env.NODE_ENV': '"production"' },
    logLevel: 'error',
  });
  const page =
    '<!doctype html><meta charset=utf-8><style>.scroll{height:90vh;overflow:auto}</style><div id=root></div><script type=module src=/thread.js></script>';
  const server = http.createServer(async (req, res) => {
    if (req.url === '/thread.js') return res.writeHead(200, { 'content-type': 'text/javascript' }).end(script.contents);
    if (!req.url.startsWith('/api/')) return res.writeHead(200, { 'content-type': 'text/html' }).end(page);
    const passed = http.request(
      base + req.url,
      { method: req.method, headers: { ...req.headers, host: new URL(base).host, origin: base, authorization: `Bearer ${token}` } },
      answer => {
        res.writeHead(answer.statusCode, answer.headers);
        answer.pipe(res);
      },
    );
    passed.on('error', () => res.destroy());
    req.pipe(passed);
  });
  await new Promise(done => server.listen(0, '127.0.0.1', done));
  closing.push(() => {
    server.closeAllConnections();
    return new Promise(done => server.close(done));
  });
  return `http://127.0.0.1:${server.address().port}`;
}

function table(figures) {
  const names = ['the page', 'assistant-ui'],
    short = n => (n >= 100 ? n.toFixed(0) : n.toPrecision(3));
  const median = all => [...all].sort((a, b) => a - b)[Math.floor(all.length / 2)];
  const lines = Object.entries(figures).map(
    ([what, of]) =>
      `| ${what} | ${names.map(n => short(median(of[n]))).join(' | ')} | ${median(of[names[0]].map((v, i) => v / of[names[1]][i])).toFixed(2)} |`,
  );
  return [`| in Chromium | ${names.join(' | ')} | ratio |`, '|---|---:|---:|---:|', ...lines].join('\n');
}
