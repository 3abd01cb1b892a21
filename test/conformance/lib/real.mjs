// A real agent behind the gateway: closed off, with a scripted model on loopback in place of its provider.
import { execFile } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { own } from './owned.mjs';
import { launch, start } from './server.mjs';

const ROOT = path.resolve(import.meta.dirname ?? path.dirname(new URL(import.meta.url).pathname), '../../..');
const HELLO = 'hello from a file\n';

async function go(...args) {
  try {
    return (await promisify(execFile)('go', args, { cwd: ROOT })).stdout;
  } catch (e) {
    throw new Error(`go ${args.join(' ')} failed, and without it there is no real agent: ${e.stderr || e.message}`);
  }
}

/** Where the pinned agent is; it is installed when it is not there yet. */
export async function commandOf(name) {
  return (await go('run', './internal/testkit/realagent/install', name)).trim().split(' ').at(-1);
}

/**
 * Returns a function that starts model and gateway; hello.txt lies in the folder the agent works in. command: another program than the
 * pinned one. internal/testkit/realagent says what environment and settings close the agent off.
 */
export const real =
  name =>
  async (binary, { command } = {}) => {
    const dir = fs.mkdtempSync(path.join(os.tmpdir(), 'agent-')); // short: agents put sockets there
    const remove = async () => {
      fs.rmSync(dir, { recursive: true, force: true, maxRetries: 3 });
    };
    const forget = own(remove);
    const [model, home, tmp, work] = ['model', 'home', 'tmp', 'work'].map(n => path.join(dir, n));
    for (const d of [home, tmp, work]) fs.mkdirSync(d);
    fs.writeFileSync(path.join(work, 'hello.txt'), HELLO);
    await go('build', '-o', model, './test/scripted-model');
    const provider = await launch(model, ['--listen', '127.0.0.1:0'], { log: path.join(dir, 'model.log') });
    const settings = JSON.parse(
      await go('run', './internal/testkit/realagent/closed', '-home', home, '-tmp', tmp, '-dir', work, '-model', provider.url.origin, name),
    );
    if (command) settings.command = path.resolve(command);
    const gateway = await start(binary, {
      agent: name,
      env: { HOME: home, TMPDIR: tmp, PATH: '/usr/local/bin:/usr/bin:/bin' },
      work,
      yaml: `agents: ${JSON.stringify({ [name]: settings })}\n`,
    });
    return {
      ...gateway,
      stderr: () => `${gateway.stderr()}\n${provider.stderr()}`,
      stop: async () => {
        await gateway.stop();
        await provider.stop();
        await remove();
        forget();
      },
    };
  };
