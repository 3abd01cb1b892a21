// A reader who follows the documentation: they run its commands and copy its files into an app. The ports are free ones, and npm takes packages from
// the lock file of this folder; all else is as the pages have it.
import { spawn } from 'node:child_process';
import fs from 'node:fs';
import net from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { which } from '../lib/chromium.mjs';
import { block, files, ROOT } from '../lib/page.mjs';
import { own } from '../lib/owned.mjs';
import { BINARY } from '../lib/site.mjs';

const HERE = import.meta.dirname ?? path.dirname(new URL(import.meta.url).pathname);
const PORTS = [8787, 5173, 3000]; // those of the gateway, Vite and Next.js on the pages

/** Commands in the place of git, make, tributary and npm: the clone is one of this repository, the gateway has a free port, and what npm would download lies here already. */
const SHIMS = {
  git: `[ "$*" = "clone https://github.com/tributary-dev/tributary" ] || { echo "the reader does not know git $*" >&2; exit 1; }
exec "$GIT" clone -q "$ROOT" tributary`,
  make: `PATH=\${PATH#*:}
case "$*" in
run) exec "$MAKE" run ARGS="--listen 127.0.0.1:$PORT_8787 --data $DATA" ;;
"-C ../tributary chat") exec "$MAKE" "$@" ;;
*) echo "the reader does not know make $*" >&2; exit 1 ;;
esac`,
  tributary: `case "$1" in
serve) exec "$TRIBUTARY" "$@" --listen "127.0.0.1:$PORT_8787" --data "$DATA" ;;
*) exec "$TRIBUTARY" "$@" --data "$DATA" ;;
esac`,
  npm: `case "$1" in
create) shift 2; app=$1; shift 2; exec node "$HERE/node_modules/create-vite/index.js" "$app" "$@" --no-interactive ;;
install) shift; for p in "$@" $(node -p 'Object.keys(require("./package.json").dependencies ?? {}).join(" ")'); do case "$p" in -*) ;;
*.tgz) mkdir -p node_modules/@tributary/chat && tar -xzf "$p" --strip-components=1 -C node_modules/@tributary/chat || exit 1 ;;
*) [ -e "$HERE/node_modules/$p" ] || [ -e "node_modules/$p" ] || { echo "package.json of this folder lacks $p" >&2; exit 1; } ;; esac; done ;;
run) case "$2" in dev | start | preview) exec "$NPM" "$@" -- --port "$PORT_APP" ;; *) exec "$NPM" "$@" ;; esac ;;
*) echo "the reader does not know npm $1" >&2; exit 1 ;;
esac`,
};

/** A reader in an empty folder. port: the port of the app on the pages. */
export async function reader(port) {
  const folder = fs.mkdtempSync(path.join(HERE, 'app-'));
  const bin = path.join(folder, 'bin'),
    ports = new Map(await Promise.all(PORTS.map(async p => [String(p), await free()])));
  fs.mkdirSync(bin);
  for (const [name, script] of Object.entries(SHIMS)) fs.writeFileSync(path.join(bin, name), `#!/bin/sh\n${script}\n`, { mode: 0o755 });
  const data = fs.mkdtempSync(path.join(os.tmpdir(), 'tributary-first-use-')),
    running = []; // not where agents work
  const env = {
    ...process.env,
    HERE,
    DATA: data,
    TRIBUTARY: path.resolve(BINARY),
    NPM: which('npm'),
    GIT: which('git'),
    MAKE: which('make'),
    ROOT,
    PATH: `${bin}:${process.env.PATH}`,
    PORT_8787: ports.get('8787'),
    PORT_APP: ports.get(String(port)),
    NO_COLOR: '1',
    CI: '1',
    NEXT_TELEMETRY_DISABLED: '1',
    NODE_ENV: undefined,
  };
  const here = text => text.replace(/\b(8787|5173|3000)\b/g, p => ports.get(p));
  const remove = async () => {
    for (const f of [folder, data]) fs.rmSync(f, { recursive: true, force: true });
  };
  const forget = own(remove);

  const me = {
    folder,
    app: folder,
    commands: 0,
    gateway: `http://127.0.0.1:${ports.get('8787')}`,
    address: `http://localhost:${ports.get(String(port))}`,
    get token() {
      return fs.readFileSync(path.join(data, 'token'), 'utf8').trim();
    },

    /** Copies a file of a page into the app. */
    copy(page, name, as = name) {
      me.write(as, here(block(page, name)));
    },
    /** Copies a folder of examples/ into the app. */
    example(name) {
      fs.cpSync(path.join(ROOT, 'examples', name), me.app, {
        recursive: true,
        filter: file => !/\/(node_modules|dist|\.next)(\/|$)/.test(file),
      });
    },
    /** Puts this repository beside the app, where the reader has a clone. */
    clone() {
      fs.symlinkSync(ROOT, path.join(me.app, '../tributary'));
    },
    /** Copies all files of some pages into a folder of the app. */
    copyAll(pages, into) {
      for (const [name, page] of files(...pages)) me.copy(page, name, path.join(into, name));
    },
    write(name, text) {
      const file = path.join(me.app, name);
      fs.mkdirSync(path.dirname(file), { recursive: true });
      fs.writeFileSync(file, text);
    },

    /** Runs a command of a page to its end. */
    async run(page, name) {
      me.commands++;
      await me.shell(block(page, name));
    },
    async shell(command) {
      const child = begin(command);
      const code = await child.gone;
      if (code !== 0) throw new Error(`${command.trim()} ended with ${code}:\n${child.said()}`);
    },
    /** Starts a command of a page that stays, and waits until it prints its URL. */
    async start(page, name) {
      me.commands++;
      return me.launch(here(block(page, name)));
    },
    /** Starts a command that stays, and waits until it prints its URL. */
    async launch(command) {
      const child = begin(command);
      const url = await Promise.race([
        child.url,
        child.gone.then(code => {
          throw new Error(`${command.trim()} ended with ${code}:\n${child.said()}`);
        }),
      ]);
      return { url: new URL(url), stop: child.stop, said: child.said };
    },
    async stop() {
      for (const child of running.splice(0)) await child.stop();
    },
    async leave() {
      await me.stop();
      await remove();
      forget();
    },
  };

  function begin(command) {
    const child = spawn('bash', ['-c', command], { cwd: me.app, env, detached: true, stdio: ['ignore', 'pipe', 'pipe'] });
    let out = '',
      found;
    const url = new Promise(r => {
      found = r;
    });
    const take = piece => {
      out += piece;
      const line = /https?:\/\/(?:localhost|127\.0\.0\.1)[^\s"]*(?=\s)/.exec(out);
      if (line) found(line[0]);
    };
    for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', take);
    let ended = null;
    const gone = new Promise(r =>
      child.on('exit', (code, signal) => {
        ended = code ?? signal;
        r(ended);
      }),
    );
    const kill = signal => {
      try {
        process.kill(-child.pid, signal);
      } catch {
        /* the group is gone */
      }
    }; // npm and what it started
    const stop = async () => {
      kill('SIGTERM');
      const late = setTimeout(kill, 10000, 'SIGKILL');
      await gone;
      clearTimeout(late);
      kill('SIGKILL'); // those that npm has left
      forgetChild();
    };
    const forgetChild = own(stop, () => kill('SIGKILL'));
    const it = { url, gone, stop, said: () => out };
    running.push(it);
    return it;
  }
  return me;
}

/** A port that is free now. */
const free = () =>
  new Promise((done, failed) => {
    const server = net
      .createServer()
      .on('error', failed)
      .listen(0, '127.0.0.1', () => {
        const { port } = server.address();
        server.close(() => done(String(port)));
      });
  });
