// Films the page: a prompt, an approval, its result, and a reload after which all of it is
// still there. It starts the gateway with the demo agent, drives Chromium, and writes a GIF.
//
//   node film.mjs [GATEWAY] [GIF]
import { spawn } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { chromium } from 'playwright-core';
import { inChromium } from '../../test/conformance/lib/chromium.mjs';
import { Camera } from './camera.mjs';

const [gateway = '../../bin/tributary', gif = '../../docs/img/demo.gif'] = process.argv.slice(2);
const size = { width: 960, height: 600 };

const data = fs.mkdtempSync(path.join(os.tmpdir(), 'tributary-film-'));
const server = spawn(gateway, ['serve', '--agent', 'demo', '--listen', '127.0.0.1:0', '--data', data], {
  stdio: ['ignore', 'pipe', 'inherit'],
});
const browser = await chromium.launch(inChromium());
try {
  const page = await browser.newPage({ viewport: size, colorScheme: 'light' });
  await page.goto(await address());
  const film = new Camera(page);
  film.start();
  await wait(700);
  await type(page, 'tool');
  await page.getByText('The file says').first().waitFor(); // the demo agent's last sentence
  await wait(1500);
  await type(page, 'approve');
  await page
    .getByRole('button', { name: /^allow/i })
    .first()
    .waitFor();
  await wait(1800);
  await page
    .getByRole('button', { name: /^allow/i })
    .first()
    .click();
  await wait(2200);
  await page.reload();
  await wait(2500);
  await film.stop();
  fs.writeFileSync(gif, film.gif());
  console.log(`${gif}: ${film.frames.length} frames, ${Math.round(fs.statSync(gif).size / 1024)} kB`);
} finally {
  await browser.close();
  server.kill('SIGTERM');
  await new Promise(done => (server.exitCode === null ? server.once('exit', done) : done()));
  fs.rmSync(data, { recursive: true, force: true });
}

/** Types a prompt as a person does, and sends it. */
async function type(page, text) {
  await page.locator('textarea').first().pressSequentially(text, { delay: 90 });
  await wait(300);
  await page.keyboard.press('Enter');
}

/** The address with the token, with which a browser signs in. */
async function address() {
  const token = path.join(data, 'token');
  let out = '';
  for await (const chunk of server.stdout) {
    out += chunk;
    const url = /https?:\/\/[^\s"]+/.exec(out)?.[0];
    if (url) return url.includes('token=') ? url : `${new URL(url).origin}/?token=${fs.readFileSync(token, 'utf8').trim()}`;
  }
  throw new Error('The gateway ended before it was ready.');
}

function wait(ms) {
  return new Promise(done => setTimeout(done, ms));
}
