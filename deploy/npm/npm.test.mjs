// The packages as a user gets them: packed, served by a registry on loopback, started by npx.
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { execFile, execFileSync, spawn } from 'node:child_process';
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const here = dirname(fileURLToPath(import.meta.url));
const program = join(here, '..', '..', 'bin', 'tributary');
const run = promisify(execFile);
const version = '0.0.1-test';
const platform = `${process.platform}-${process.arch}`;

let dir, registry, env;

before(async () => {
  dir = mkdtempSync(join(tmpdir(), 'tributary-npm-test-'));
  const other = platform === 'linux-arm64' ? 'linux-x64' : 'linux-arm64';
  execFileSync(
    process.execPath,
    [
      join(here, 'pack.mjs'),
      '--version',
      version,
      '--to',
      join(dir, 'packed'),
      `${platform}=${program}`,
      `${other}=${join(here, 'pack.mjs')}`,
    ],
    { stdio: 'inherit' },
  );
  const packages = {};
  for (const file of readdirSync(join(dir, 'packed'))) {
    const data = readFileSync(join(dir, 'packed', file));
    const manifest = JSON.parse(execFileSync('tar', ['-xzOf', join(dir, 'packed', file), 'package/package.json']));
    packages[manifest.name] = { manifest, file, integrity: `sha512-${createHash('sha512').update(data).digest('base64')}` };
  }
  registry = createServer((request, response) => {
    const path = decodeURIComponent(new URL(request.url, 'http://x').pathname).slice(1);
    const file = Object.values(packages).find(one => path === `-/${one.file}`);
    if (file) return response.end(readFileSync(join(dir, 'packed', file.file)));
    const one = packages[path];
    if (!one) return response.writeHead(404, { 'content-type': 'application/json' }).end('{"error":"not found"}');
    const dist = { integrity: one.integrity, tarball: `http://127.0.0.1:${registry.address().port}/-/${one.file}` };
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(JSON.stringify({ name: path, 'dist-tags': { latest: version }, versions: { [version]: { ...one.manifest, dist } } }));
  });
  await new Promise(resolve => registry.listen(0, '127.0.0.1', resolve));
  const rc = join(dir, 'npmrc');
  writeFileSync(rc, `registry=http://127.0.0.1:${registry.address().port}/\n`);
  env = {
    PATH: process.env.PATH,
    HOME: dir,
    npm_config_userconfig: rc,
    npm_config_globalconfig: join(dir, 'none'),
    npm_config_cache: join(dir, 'cache'),
    npm_config_update_notifier: 'false',
    npm_config_audit: 'false',
    npm_config_fund: 'false',
  };
});

after(() => {
  registry?.close();
  registry?.closeAllConnections();
  if (dir) rmSync(dir, { recursive: true, force: true });
});

test('npx starts the program of this platform, and passes arguments and the exit status on', async () => {
  const cwd = mkdtempSync(join(dir, 'npx-'));
  const { stdout } = await run('npx', ['--yes', '@tributary-dev/tributary', 'version'], { cwd, env });
  assert.match(stdout, /^tributary .*go1\./);
  const failed = await run('npx', ['--yes', '@tributary-dev/tributary', 'serve', '--fsync', 'perhaps'], { cwd, env }).catch(error => error);
  assert.equal(failed.code, 2);
  assert.match(failed.stderr, /^tributary: --fsync "perhaps" is unknown/m);
});

test('npm installs the program of this platform only', async () => {
  const cwd = mkdtempSync(join(dir, 'install-'));
  await run('npm', ['install', '--prefix', cwd, '@tributary-dev/tributary'], { cwd, env });
  assert.deepEqual(readdirSync(join(cwd, 'node_modules', '@tributary-dev')).sort(), ['tributary', `tributary-${platform}`]);
});

test('the page is served, and a signal ends the gateway in order', async t => {
  const cwd = mkdtempSync(join(dir, 'serve-'));
  await run('npm', ['install', '--prefix', cwd, '@tributary-dev/tributary'], { cwd, env });
  const child = spawn(
    join(cwd, 'node_modules', '.bin', 'tributary'),
    ['serve', '--listen', '127.0.0.1:0', '--data', join(cwd, 'data'), '--agent', 'demo'],
    { cwd: mkdtempSync(join(dir, 'work-')), env },
  );
  const ended = new Promise(resolve => child.once('exit', (status, signal) => resolve({ status, signal })));
  t.after(async () => {
    child.kill('SIGTERM');
    await ended;
  }); // a test that fails leaves no gateway behind; the signal reaches it through the launcher
  const errors = [];
  child.stderr.on('data', data => errors.push(data));
  const url = await new Promise((resolve, reject) => {
    child.stdout.once('data', data => resolve(String(data).trim()));
    child.once('exit', () => reject(new Error(Buffer.concat(errors).toString())));
  });
  const page = await (await fetch(url)).text();
  const scripts = [...page.matchAll(/(?:src|href)="(\/assets\/[^"]+\.js)"/g)].map(([, name]) => name);
  const codes = await Promise.all(scripts.map(async name => (await (await fetch(new URL(name, url))).text()).length));
  assert.ok(codes.reduce((a, b) => a + b, 0) > 100_000, `the scripts have ${codes} bytes: ${page}`);
  child.kill('SIGTERM');
  assert.deepEqual(await ended, { status: 0, signal: null });
});

test('the package for clients has its version, its types and its licence', async () => {
  const file = readdirSync(join(dir, 'packed')).find(name => name.startsWith('tributary-chat-'));
  const names = execFileSync('tar', ['-tzf', join(dir, 'packed', file)], { encoding: 'utf8' })
    .trim()
    .split('\n');
  for (const name of ['LICENSE', 'README.md', 'dist/index.js', 'dist/index.d.ts', 'dist/react.js', 'dist/vue.js', 'dist/svelte.js'])
    assert.ok(names.includes(`package/${name}`), name);
  const manifest = JSON.parse(execFileSync('tar', ['-xzOf', join(dir, 'packed', file), 'package/package.json']));
  assert.equal(manifest.version, version);
  assert.equal(manifest.devDependencies, undefined);
});

test('a platform without a program gets one sentence', async () => {
  for (const [optional, sentence] of [
    [
      { '@tributary-dev/tributary-plan9-x64': version },
      `tributary: there is no program for ${platform}, only for plan9-x64: build it with \`go install github.com/tributary-dev/tributary/cmd/tributary@latest\`\n`,
    ],
    [
      { [`@tributary-dev/tributary-${platform}`]: version },
      `tributary: the package @tributary-dev/tributary-${platform} is missing, because npm left optional packages out: install it with \`npm install @tributary-dev/tributary-${platform}@${version}\`\n`,
    ],
  ]) {
    const folder = join(mkdtempSync(join(dir, 'alone-')), 'tributary');
    mkdirSync(folder);
    copyFileSync(join(here, 'tributary.cjs'), join(folder, 'tributary.cjs'));
    writeFileSync(join(folder, 'package.json'), JSON.stringify({ version, optionalDependencies: optional }));
    const failed = await run(process.execPath, [join(folder, 'tributary.cjs'), 'version'], { cwd: folder }).catch(error => error);
    assert.equal(failed.code, 1);
    assert.equal(failed.stderr, sentence);
  }
});
