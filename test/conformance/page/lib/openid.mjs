// A real OpenID provider for the page's tests, and what people do there.
import { execFileSync, spawn } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { own } from '../../lib/owned.mjs';
import { ROOT } from '../../lib/page.mjs';

/** Starts the provider, which sends people back to an address: {issuer, stop}. */
export async function provider(redirect) {
  const dir = fs.mkdtempSync(path.join(os.tmpdir(), 'tributary-openid-'));
  execFileSync('go', ['build', '-o', `${dir}/openid`, '.'], { cwd: path.join(ROOT, 'tools/openid'), stdio: 'pipe' });
  const child = spawn(`${dir}/openid`, [redirect], { stdio: ['pipe', 'pipe', 'ignore'] }); // it ends with its standard input
  const gone = new Promise(r => child.on('exit', r));
  const stop = async () => {
    child.stdin.end();
    await gone;
    fs.rmSync(dir, { recursive: true, force: true });
    forget();
  };
  const forget = own(stop, () => child.kill('SIGKILL'));
  let said = '';
  for await (const piece of child.stdout.setEncoding('utf8').iterator({ destroyOnReturn: false })) {
    said += piece;
    if (said.includes('\n')) break;
  }
  child.stdout.resume();
  return { issuer: said.split('\n')[0], stop };
}

/** Fills in the provider's form, which the page has led to. */
export async function atProvider(page, user = 'test-user@127.0.0.1') {
  await page.locator('input[name=username]').fill(user);
  await page.locator('input[name=password]').fill('verysecure');
  await page.locator('[type=submit]').first().click();
}
