// Two people use the page behind nginx and behind Caddy: each in a Chromium of their own, signed in with a real OpenID provider, over TLS. The configurations
// of the proxies are those of the page about reverse proxies; only ports and files differ.
import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import fs from 'node:fs';
import net from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { after, before, describe, test } from 'node:test';
import { chromium } from 'playwright-core';
import { inHeadlessChromium, which } from '../lib/chromium.mjs';
import { own } from '../lib/owned.mjs';
import { ROOT } from '../lib/page.mjs';
import { BINARY } from '../lib/site.mjs';
import { manyTabs } from '../page/lib/tabs.mjs';

const HOST = 'agents.example.com',
  PASSWORD = 'verysecure'; // of both people of the provider
const PAGE = fs.readFileSync(path.join(ROOT, 'docs/deploy/reverse-proxy-tls.md'), 'utf8');
const ALLOWED = 'I was allowed to run it: echo hello';

const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'tributary-proxies-'));
const forget = own(async () => fs.rmSync(folder, { recursive: true, force: true }));
after(() => {
  fs.rmSync(folder, { recursive: true, force: true });
  forget();
});

const OPENID = path.join(folder, 'openid');
before(() => execFileSync('go', ['build', '-o', OPENID, '.'], { cwd: path.join(ROOT, 'tools/openid'), stdio: 'pipe' }));

/** The block of the page in a language, with parts replaced. Each part must occur. */
function shown(language, pairs) {
  let text = new RegExp(`\`\`\`${language}\n([^]*?)\`\`\``).exec(PAGE)[1];
  for (const [from, to] of Object.entries(pairs)) {
    assert.ok(text.includes(from), `the page shows ${from}`);
    text = text.replaceAll(from, to);
  }
  return text;
}

/** The proxies: what runs, and the file that it reads. */
const PROXIES = {
  nginx: {
    argv: (dir, file) => ['-p', dir, '-c', file],
    conf: (dir, port, gateway) => `daemon off; master_process off; pid nginx.pid; error_log stderr warn;
events {}
http { access_log off; client_body_temp_path body; proxy_temp_path proxy; fastcgi_temp_path fastcgi; uwsgi_temp_path uwsgi; scgi_temp_path scgi;
${shown('nginx', {
  'listen 443 ssl': `listen 127.0.0.1:${port} ssl`,
  '127.0.0.1:8787': gateway,
  '/etc/ssl/agents/fullchain.pem': `${dir}/cert.pem`,
  '/etc/ssl/agents/privkey.pem': `${dir}/key.pem`,
})} }\n`,
  },
  caddy: {
    argv: (_, file) => ['run', '--adapter', 'caddyfile', '--config', file],
    conf: (dir, port, gateway) => `{\n  admin off\n  auto_https disable_redirects\n  skip_install_trust\n}
${shown('caddy', { [`${HOST} {`]: `https://${HOST}:${port} {\n  bind 127.0.0.1\n  tls ${dir}/cert.pem ${dir}/key.pem`, '127.0.0.1:8787': gateway })}`,
  },
};

/** Starts a program that ends with this one: {said, stop, prints}. prints(pattern) waits for a line. The program's standard input stays open. */
function begin(program, argv, dir) {
  const child = spawn(program, argv, {
    cwd: dir,
    env: { ...process.env, HOME: dir, XDG_DATA_HOME: dir, XDG_CONFIG_HOME: dir },
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  let out = '',
    ended = false;
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', piece => {
      out += piece;
    });
  const gone = new Promise(r => child.on('exit', r).on('error', r)).then(() => {
    ended = true;
  });
  const stop = async () => {
    child.kill('SIGTERM');
    const late = setTimeout(() => child.kill('SIGKILL'), 10_000);
    await gone;
    clearTimeout(late);
    forgetChild();
  };
  const forgetChild = own(stop, () => child.kill('SIGKILL'));
  const until = async (what, happened) => {
    for (const began = Date.now(); Date.now() - began < 30_000 && !ended; await new Promise(r => setTimeout(r, 50))) {
      const found = await happened();
      if (found) return found;
    }
    throw new Error(`${program} ${what}:\n${out}`);
  };
  return {
    stop,
    prints: pattern => until(`does not print ${pattern}`, async () => pattern.exec(out)?.[0]),
    listens: port =>
      until(
        `does not listen on ${port}`,
        () =>
          new Promise(done => {
            const s = net
              .connect(port, '127.0.0.1', () => {
                s.destroy();
                done(true);
              })
              .on('error', () => done(false));
          }),
      ),
  };
}

const free = () =>
  new Promise(done => {
    const s = net.createServer().listen(0, '127.0.0.1', () => {
      const { port } = s.address();
      s.close(() => done(port));
    });
  });

for (const [name, proxy] of Object.entries(PROXIES)) {
  describe(name, () => {
    const ends = [];
    let browser, ada;
    before(async () => {
      const program = which(name);
      assert.ok(program, `There is no ${name}: install Debian’s package ${name}.`);
      const dir = path.join(folder, name),
        [outside, inside] = [await free(), await free()];
      fs.mkdirSync(dir);
      execFileSync(
        'openssl',
        [
          'req',
          '-x509',
          '-newkey',
          'ec',
          '-pkeyopt',
          'ec_paramgen_curve:P-256',
          '-nodes',
          '-days',
          '2',
          '-subj',
          `/CN=${HOST}`,
          '-addext',
          `subjectAltName=DNS:${HOST}`,
          '-keyout',
          `${dir}/key.pem`,
          '-out',
          `${dir}/cert.pem`,
        ],
        { stdio: 'pipe' },
      );
      const provider = begin(OPENID, [`https://${HOST}/auth/callback`], dir);
      ends.push(provider.stop);
      const issuer = await provider.prints(/http:\S+(?=\n)/);
      fs.writeFileSync(`${dir}/secret`, 'secret', { mode: 0o600 });
      fs.writeFileSync(
        `${dir}/tributary.yaml`,
        JSON.stringify({
          // YAML, too
          public_url: `https://${HOST}`,
          trusted_proxies: ['127.0.0.1'],
          default_agent: 'demo',
          agents: { demo: {}, patient: { adapter: 'demo', options: { pace: '1s' } } },
          auth: { oidc: { issuer, client_id: 'web', client_secret_file: `${dir}/secret`, default_role: 'admin' } },
        }),
      );
      fs.mkdirSync(`${dir}/work`);
      const gateway = begin(
        path.resolve(BINARY),
        ['serve', '--listen', `127.0.0.1:${inside}`, '--config', `${dir}/tributary.yaml`, '--data', `${dir}/data`, '--cwd', `${dir}/work`],
        dir,
      );
      ends.push(gateway.stop);
      assert.equal(await gateway.prints(/^https:\S+/m), `https://${HOST}`, 'the address that the start prints');

      fs.writeFileSync(`${dir}/proxy.conf`, proxy.conf(dir, outside, `127.0.0.1:${inside}`));
      const running = begin(program, proxy.argv(dir, `${dir}/proxy.conf`), dir);
      ends.push(running.stop);
      await running.listens(outside);
      // The certificate is this test's own. A context that ignores it does not ignore it in workers.
      browser = await chromium.launch(
        inHeadlessChromium(`--host-resolver-rules=MAP ${HOST}:443 127.0.0.1:${outside}`, '--ignore-certificate-errors'),
      );
      ends.push(() => browser.close());
    });
    after(async () => {
      for (const end of ends.reverse()) await end();
    });

    /** A person's own browser, signed in. */
    async function person(user, address = '/') {
      const context = await browser.newContext({ reducedMotion: 'reduce' }),
        page = await context.newPage();
      page.setDefaultTimeout(30_000);
      await page.goto(`https://${HOST}${address}`);
      await page.getByRole('button', { name: 'Sign in' }).click();
      await page.locator('input[name=username]').fill(user);
      await page.locator('input[name=password]').fill(PASSWORD);
      await page.locator('[type=submit]').first().click();
      await page.waitForURL(url => url.host === HOST);
      await page.locator('textarea').waitFor();
      return page;
    }

    /** A fresh tab of Ada, who is signed in. */
    async function tab() {
      const page = await ada.context().newPage();
      page.setDefaultTimeout(30_000);
      await page.goto(`https://${HOST}/`);
      await page.locator('textarea').waitFor();
      return page;
    }

    test('one person prompts, another one approves, and a reload shows it all', async () => {
      ada = await person('test-user@127.0.0.1');
      await ada.locator('textarea').fill('approve');
      await ada.keyboard.press('Enter');
      await ada.getByRole('button', { name: /^allow\b/i }).waitFor();
      const address = new URL(ada.url());

      const ben = await person('test-user2', address.pathname + address.hash);
      await ben.getByRole('button', { name: /^allow\b/i }).click();
      await ada.getByText(ALLOWED).waitFor();
      await ben.getByText(ALLOWED).waitFor();
      await ada.reload();
      await ada.getByText(ALLOWED).waitFor();
      assert.equal(ada.url(), address.href);
      await ben.context().close();
    });

    test('words come while the agent speaks, and a reload in the middle goes on', async () => {
      const page = await tab();
      await page.locator('textarea').fill('slow'); // ten seconds
      await page.keyboard.press('Enter');
      const lengths = new Set();
      for (const began = Date.now(); lengths.size < 5 && Date.now() - began < 6000; await new Promise(r => setTimeout(r, 100)))
        lengths.add((await page.locator('body').innerText()).length);
      assert.equal(lengths.size, 5, 'the proxy holds no words back');
      await page.reload();
      await page.getByRole('button', { name: 'Stop' }).waitFor();
      await page.getByRole('button', { name: 'Stop' }).waitFor({ state: 'detached' });
      await page.close();
    });

    test('eight tabs with a running turn each', async () => {
      await manyTabs(ada, `https://${HOST}`, 8);
      for (const page of ada.context().pages()) if (page !== ada) await page.close();
    });

    test('a WebSocket of the page opens, and one with a wrong secret does not', async () => {
      const page = await tab();
      await page.locator('textarea').fill('hello');
      await page.keyboard.press('Enter');
      await page.waitForURL(url => url.hash.includes('/s/'));
      await page.getByText('I am the demo agent').first().waitFor(); // the gateway has the session
      const opens = secret =>
        page.evaluate(
          ([host, secret]) =>
            new Promise(done => {
              const id = location.hash.split('/').at(-1);
              const socket = new WebSocket(`wss://${host}/api/sessions/${id}/ws?role=client`, [
                'agent-ops',
                `page.${secret ?? localStorage.getItem('tributary-page')}`,
              ]);
              socket.onmessage = () => {
                done(true);
                socket.close();
              };
              socket.onclose = () => done(false);
            }),
          [HOST, secret],
        );
      assert.equal(await opens(), true);
      assert.equal(await opens('wrong'), false);
      await page.close();
    });

    test('after "Sign out" the page is closed', async () => {
      await ada.locator('.account button').click();
      await ada.getByRole('menuitem', { name: 'Sign out' }).click();
      await ada.getByRole('button', { name: 'Sign in' }).waitFor();
      assert.equal(await ada.evaluate(() => fetch('/api/sessions').then(r => r.status)), 401);
    });
  });
}
