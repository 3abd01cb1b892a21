// The gateway under test: a process with an empty data directory and a free port, or one that runs already.
import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import readline from 'node:readline';
import { balance } from './balancer.mjs';
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
    child.on('error', e => {
      exited = e.message;
      r();
    });
    child.on('exit', (code, signal) => {
      exited ??= `exit ${code ?? signal}`;
      r();
    });
  });
  const stop = async (signal = 'SIGTERM') => {
    if (exited === null) {
      child.kill(signal);
      const late = setTimeout(() => child.kill('SIGKILL'), patience);
      await gone;
      clearTimeout(late);
    }
    forget();
  };
  const forget = own(stop, () => child.kill('SIGKILL'));
  const lines = readline.createInterface({ input: child.stdout });
  const line = await Promise.race([
    new Promise(r =>
      lines.on('line', l => {
        if (/https?:\/\//.test(l)) r(l);
      }),
    ),
    gone.then(() => null),
    new Promise(r => setTimeout(r, 30000, null).unref()),
  ]);
  const said = () => fs.readFileSync(log, 'utf8'),
    stderr = () => said().split('\n').slice(-30).join('\n');
  if (!line) {
    const why = exited ?? 'still running';
    await stop();
    throw new Error(`${program} printed no base URL (${why}):\n${stderr()}`);
  }
  return { url: new URL(/https?:\/\/\S+/.exec(line)[0]), stop, said, stderr, alive: () => exited === null };
}

// One token stands for dozens of users here, whose trials make up to 170 requests a second.
const LIMITS = 'limits: {requests: none, streams: none}\n';

/** The flag that has a gateway keep its log in a database of its own, where internal/testkit/pgtest/with hands them out. */
async function database() {
  const databases = process.env.TRIBUTARY_TEST_DATABASES;
  if (!databases) return [];
  const made = await fetch(databases, { method: 'POST' }),
    text = await made.text();
  if (!made.ok) throw new Error(`no database was made: ${text}`);
  return ['--db', text];
}

/** How many gateways share a database. A balancer in front of them sends each request to the next one. */
const GATEWAYS = Number(process.env.TRIBUTARY_TEST_GATEWAYS ?? 1);
const CLUSTER = 'cluster: {listen: "127.0.0.1:0"}\n';

/**
 * Starts the gateway and waits for its ready line: {base, token, work, stop, restart, said, stderr, alive}. yaml: what its configuration
 * says; work: the folder of the agents, if not a new one. restart(signal) ends the gateway with a signal and starts it at the same address with the same data.
 */
export async function start(binary, { agent = 'demo', auth = 'token', env, args = [], yaml, work: given } = {}) {
  const dir = fs.mkdtempSync(path.join(os.tmpdir(), 'tributary-conformance-'));
  const remove = async () => {
    fs.rmSync(dir, { recursive: true, force: true });
  };
  const forget = own(remove);
  const work = given ?? fs.mkdtempSync(path.join(dir, 'work-'));
  const config = path.join(dir, 'tributary.yaml');
  const db = await database(),
    numbers = Array.from({ length: db.length ? GATEWAYS : 1 }, (_, i) => i),
    several = numbers.length > 1,
    data = n => path.join(dir, n ? `data-${n}` : 'data');
  fs.writeFileSync(config, LIMITS + (several ? CLUSTER : '') + (yaml ?? ''));
  const argv = (n, listen) => [
    'serve',
    '--listen',
    listen,
    '--data',
    data(n),
    '--cwd',
    work,
    '--auth',
    auth,
    '--agent',
    agent,
    '--config',
    config,
    ...db,
    ...args,
  ];
  const token = shared(auth, yaml) || several ? adminToken(numbers.map(data)) : null;
  const [program, ...before] = binary.endsWith('.mjs') ? [process.execPath, binary] : [path.resolve(binary)];
  const run = (n, listen) => launch(program, [...before, ...argv(n, listen)], { log: path.join(dir, `stderr-${n}.log`), env });
  try {
    let now = await Promise.all(numbers.map(n => run(n, '127.0.0.1:0')));
    const balancer = several ? await balance(() => now.map(g => g.url)) : null;
    return {
      base: balancer?.base ?? now[0].url.origin,
      token: token ?? now[0].url.searchParams.get('token') ?? tokenIn(data(0)),
      work,
      said: () => now.map(g => g.said()).join(''),
      stderr: () => now.map(g => g.stderr()).join('\n'),
      alive: () => now.every(g => g.alive()),
      restart: async signal => {
        await Promise.all(now.map(g => g.stop(signal)));
        now = await Promise.all(now.map((g, n) => run(n, g.url.host)));
      },
      stop: async () => {
        await balancer?.stop();
        await Promise.all(now.map(g => g.stop()));
        await remove();
        forget();
      },
    };
  } catch (e) {
    await remove();
    forget();
    throw e;
  }
}

/** Whether several people use a gateway, so that the data directory keeps the hash of the admin token only. */
const shared = (auth, yaml) => auth === 'jwt' || /\b(oidc|tokens|pass_through):/.test(yaml ?? '');

/** Writes an admin token into data directories before the first start, and returns it. */
function adminToken(dirs) {
  const token = randomBytes(32).toString('hex');
  for (const data of dirs) {
    fs.mkdirSync(data, { recursive: true, mode: 0o700 });
    fs.writeFileSync(path.join(data, 'token'), token, { mode: 0o600 });
  }
  return token;
}

/** The token in a data directory; null where there is none. */
function tokenIn(data) {
  const file = path.join(data, 'token');
  return fs.existsSync(file) ? fs.readFileSync(file, 'utf8').trim() : null;
}

/** The plain HTTP side of the gateway, as an app's own code would call it. */
export function http({ base, token }) {
  const headers = token ? { authorization: `Bearer ${token}` } : {};
  const call = async (method, path, body) => {
    const res = await fetch(base + path, {
      method,
      headers: { ...headers, ...(body === undefined ? {} : { 'content-type': 'application/json' }) },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await res.text();
    let json;
    try {
      json = JSON.parse(text);
    } catch {
      json = undefined;
    }
    return { status: res.status, text, json, headers: res.headers };
  };
  return {
    base,
    token,
    headers,
    call,
    get: path => call('GET', path),
    post: (path, body) => call('POST', path, body),
    async history(id, profile) {
      const r = await call('GET', `/api/sessions/${encodeURIComponent(id)}/messages${profile ? `?client=${profile}` : ''}`);
      if (r.status !== 200 || !Array.isArray(r.json)) throw new Error(`the history of ${id} answered ${r.status}: ${r.text.slice(0, 200)}`);
      return r.json;
    },
  };
}
