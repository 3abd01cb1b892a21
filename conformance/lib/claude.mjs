// A real Claude Code behind the gateway: closed off, with a scripted model on loopback in place of its provider.
import { execFile } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { own } from './owned.mjs';
import { launch, start } from './server.mjs';

const ROOT = path.resolve(import.meta.dirname ?? path.dirname(new URL(import.meta.url).pathname), '../..');
const HELLO = 'hello from a file\n';

async function go(...args) {
  try {
    return (await promisify(execFile)('go', args, { cwd: ROOT })).stdout;
  } catch (e) {
    throw new Error(`go ${args.join(' ')} failed, and without it there is no real Claude Code: ${e.stderr || e.message}`);
  }
}

/** Where the pinned Claude Code is; it is installed when it is not there yet. */
export async function findClaude() {
  const line = (await go('run', './internal/realagent/install')).split('\n').find(l => l.startsWith('@anthropic-ai/claude-code@'));
  if (!line) throw new Error('internal/realagent/install names no @anthropic-ai/claude-code');
  return line.slice(line.indexOf(' ') + 1);
}

// As ClaudeEnv of internal/realagent: nothing of the user's is seen, nobody but the model is talked to.
const closed = (bin, home, tmp, model) => ({
  HOME: home, TMPDIR: tmp, PATH: `${bin}:/usr/local/bin:/usr/bin:/bin`, LANG: 'C.UTF-8', TERM: 'dumb', SHELL: '/bin/sh',
  CLAUDE_CONFIG_DIR: path.join(home, '.claude'), ANTHROPIC_BASE_URL: model, ANTHROPIC_API_KEY: 'sk-test',
  CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1', DISABLE_AUTOUPDATER: '1', DISABLE_TELEMETRY: '1', DISABLE_ERROR_REPORTING: '1',
  CLAUDE_CODE_MAX_RETRIES: '1',
});

/** Starts model and gateway; hello.txt lies in the folder the agents work in. command: another claude than the pinned one. */
export async function startClaude(binary, { command } = {}) {
  const dir = fs.mkdtempSync(path.join(os.tmpdir(), 'agent-')); // short: agents put sockets there
  const remove = async () => { fs.rmSync(dir, { recursive: true, force: true, maxRetries: 3 }); };
  const forget = own(remove);
  const [model, bin, home, tmp] = ['model', 'bin', 'home', 'tmp'].map(n => path.join(dir, n));
  for (const d of [bin, home, tmp]) fs.mkdirSync(d);
  const [claude] = await Promise.all([command ? path.resolve(command) : findClaude(), go('build', '-o', model, './cmd/scripted-model')]);
  fs.symlinkSync(claude, path.join(bin, 'claude'));
  const provider = await launch(model, ['--listen', '127.0.0.1:0'], { log: path.join(dir, 'model.log') });
  const gateway = await start(binary, { agent: 'claude', env: closed(bin, home, tmp, provider.url.origin) });
  fs.writeFileSync(path.join(gateway.work, 'hello.txt'), HELLO);
  return {
    ...gateway,
    stderr: () => `${gateway.stderr()}\n${provider.stderr()}`,
    stop: async () => { await gateway.stop(); await provider.stop(); await remove(); forget(); },
  };
}
