// The gateway under test: a process with an empty data directory and a free port, or one that runs already.
import { spawn } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import readline from 'node:readline';
import { own } from './owned.mjs';

/**
 * A process that prints its base URL on a line of its own when it is ready: {url, stop, kill, said, stderr, alive}.
 * kill ends it without warning. log: the file its standard error goes to; said() is all of it, stderr() its end. It does not outlive this program.
 */
export async function launch(program, argv, { log, env = process.env, patience = 15000 }) {
  const err = fs.openSync(log, 'w');
  const child = spawn(program, argv, { env, stdio: ['ignore', 'pipe', err] });
  fs.closeSync(err);
  let exited = null;
  const gone = new Promise(r => {
    child.on('error', e => { exited = e.message; r(); });
    child.on('exit', (code, signal) => { exited ??= `exit ${code ?? signal}`; r(); });
  });
  const stop = async () => {
    if (exited === null) {
      child.kill('SIGTERM');
      const late = setTimeout(() => child.kill('SIGKILL'), patience);
      await gone;
      clearTimeout(late);
    }
    forget();
  };
  const forget = own(stop, () => child.kill('SIGKILL'));
  const kill = async () => { child.kill('SIGKILL'); await gone; forget(); };
  const lines = readline.createInterface({ input: child.stdout });
  const line = await Promise.race([
    new Promise(r => lines.on('line', l => { if (/https?:\/\//.test(l)) r(l); })),
    gone.then(() => null),
    new Promise(r => setTimeout(r, 30000, null).unref()),
  ]);
  const said = () => fs.readFileSync(log, 'utf8'), stderr = () => said().split('\n').slice(-30).join('\n');
  if (!line) {
    const why = exited ?? 'still running';
    await stop();
    throw new Error(`${program} printed no base URL (${why}):\n${stderr()}`);
  }
  return { url: new URL(/https?:\/\/\S+/.exec(line)[0]), stop, kill, said, stderr, alive: () => exited === null };
}

/**
 * Starts the gateway and waits for its ready line: {base, token, work, stop, restart, said, stderr, alive}.
 * restart kills it without warning, starts another on the same data, and returns that one in its place.
 */
export async function start(binary, options = {}) {
  const dir = fs.mkdtempSync(path.join(os.tmpdir(), 'tributary-conformance-'));
  return startIn(dir, binary, options);
}

async function startIn(dir, binary, options) {
  const { agent = 'demo', auth = 'token', env, args = [] } = options;
  const remove = async () => { fs.rmSync(dir, { recursive: true, force: true }); };
  const forget = own(remove);
  const work = fs.mkdtempSync(path.join(dir, 'work-'));
  const argv = ['serve', '--listen', '127.0.0.1:0', '--data', path.join(dir, 'data'), '--cwd', work, '--auth', auth, '--agent', agent, ...args];
  const [program, ...before] = binary.endsWith('.mjs') ? [process.execPath, binary] : [path.resolve(binary)];
  try {
    const { url, stop, kill, said, stderr, alive } = await launch(program, [...before, ...argv], { log: path.join(dir, 'stderr.log'), env });
    return {
      base: url.origin, token: url.searchParams.get('token'), work, said, stderr, alive,
      stop: async () => { await stop(); await remove(); forget(); },
      restart: async () => { await kill(); forget(); return startIn(dir, binary, options); },
    };
  } catch (e) {
    await remove();
    forget();
    throw e;
  }
}

/** The plain HTTP side of the gateway, as an app's own code would call it. */
export function http({ base, token }) {
  const headers = token ? { authorization: `Bearer ${token}` } : {};
  const call = async (method, path, body) => {
    const res = await fetch(base + path, {
      method, headers: { ...headers, ...(body === undefined ? {} : { 'content-type': 'application/json' }) },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await res.text();
    let json;
    try { json = JSON.parse(text); } catch { json = undefined; }
    return { status: res.status, text, json, headers: res.headers };
  };
  return {
    base, token, headers, call,
    get: path => call('GET', path),
    post: (path, body) => call('POST', path, body),
    async history(id, profile) {
      const r = await call('GET', `/api/sessions/${encodeURIComponent(id)}/messages${profile ? `?client=${profile}` : ''}`);
      if (r.status !== 200 || !Array.isArray(r.json)) throw new Error(`the history of ${id} answered ${r.status}: ${r.text.slice(0, 200)}`);
      return r.json;
    },
  };
}
