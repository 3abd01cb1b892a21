// Takes the pictures of the page in docs/img: twelve states, with the demo agent. `make pictures` runs it.
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { http, start } from '../lib/server.mjs';
import { BINARY, until } from '../lib/site.mjs';
import { launch, openIn } from './lib/page.mjs';
import { agents, furnish, requestOf, states } from './lib/states.mjs';

const OUT = path.join(import.meta.dirname ?? path.dirname(new URL(import.meta.url).pathname), '../../../docs/img');
const DARK = { colorScheme: 'dark' },
  PHONE = { viewport: { width: 390, height: 844 }, hasTouch: true };
const VIEW = { markdown: DARK, changes: DARK, question: DARK, subagents: PHONE, request: PHONE, sessions: { ...PHONE, ...DARK } };

const work = fs.mkdtempSync(path.join(os.tmpdir(), 'tributary-pictures-'));
const server = await start(BINARY, { work, yaml: agents(work) });
const site = { ...server, ...http(server) },
  browser = await launch({ whole: true });
try {
  await furnish(site);
  for (const [name, hash, act] of states(await requestOf(site))) {
    const page = await openIn(browser, site, hash, VIEW[name]);
    await page.locator('.scroll, [data-request]').first().waitFor();
    await act(page);
    if (name !== 'queue') await until('the page has drawn everything', async () => (await page.locator('[aria-busy=true]').count()) === 0);
    await page.waitForTimeout(700); // colours of code come a little later
    await page.screenshot({ path: path.join(OUT, `${name}.png`) });
    console.log(`docs/img/${name}.png`);
    await page.leave();
  }
} finally {
  await browser.close();
  await server.stop();
  fs.rmSync(work, { recursive: true, force: true });
}
