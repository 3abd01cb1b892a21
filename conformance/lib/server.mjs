// The gateway under test: a process with an empty data directory and a free port, or one that runs already.
import { spawn } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import readline from 'node:readline';

/** Starts the binary and waits for its ready line: {base, token, stop, alive}. */
export async function start(binary, { args = [], auth = 'token' } = {}) {
  const dir = fs.mkdtempSync(path.join(os.tmpdir(), 'tributary-conformance-'));
  const log = path.join(dir, 'stderr.log');
  const err = fs.openSync(log, 'w');
  const argv = ['serve', '--listen', '127.0.0.1:0', '--data', path.join(dir, 'data'), '--cwd', fs.mkdtempSync(path.join(dir, 'work-')), '--auth', auth, '--agent', 'demo', ...args];
  const [program, ...before] = binary.endsWith('.mjs') ? [process.execPath, binary] : [path.resolve(binary)];
  const child = spawn(program, [...before, ...argv], { stdio: ['ignore', 'pipe', err] });
  fs.closeSync(err);
  let exited = null;
  const gone = new Promise(r => {
    child.on('error', e => { exited = e.message; r(); });
    child.on('exit', (code, signal) => { exited ??= `exit ${code ?? signal}`; r(); });
  });
  // However this program ends, the gateway does not outlive it.
  const end = () => { if (exited === null) child.kill('SIGKILL'); };
  process.once('exit', end);
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.once(signal, () => process.exit(1));
  const lines = readline.createInterface({ input: child.stdout });
  const line = await Promise.race([
    new Promise(r => lines.on('line', l => { if (/https?:\/\//.test(l)) r(l); })),
    gone.then(() => null),
    new Promise(r => setTimeout(r, 30000, null).unref()),
  ]);
  const stderr = () => fs.readFileSync(log, 'utf8').split('\n').slice(-30).join('\n');
  const stop = async () => {
    if (exited === null) {
      child.kill('SIGTERM');
      const late = setTimeout(() => child.kill('SIGKILL'), 15000);
      await gone;
      clearTimeout(late);
    }
    process.off('exit', end);
    fs.rmSync(dir, { recursive: true, force: true });
  };
  if (!line) {
    const text = stderr();
    await stop();
    throw new Error(`${binary} printed no base URL (${exited ?? 'still running'}):\n${text}`);
  }
  const url = new URL(/https?:\/\/\S+/.exec(line)[0]);
  return { base: url.origin, token: url.searchParams.get('token'), stop, stderr, alive: () => exited === null };
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
