// Packs the npm packages: @tributary-dev/tributary, which starts the program, one package with the program for each platform, and @tributary/chat.
//
//   node pack.mjs --version 0.1.0 --to DIR linux-x64=PROGRAM darwin-arm64=PROGRAM …
import { execFileSync } from 'node:child_process';
import { chmodSync, copyFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { packChat } from './chat.mjs';

const here = dirname(fileURLToPath(import.meta.url));
const root = join(here, '..', '..');
const { values, positionals } = parseArgs({ options: { version: { type: 'string' }, to: { type: 'string' } }, allowPositionals: true });
if (!values.version || !values.to || positionals.length === 0) {
  console.error('usage: node pack.mjs --version VERSION --to DIR PLATFORM=PROGRAM…');
  process.exit(2);
}
const to = resolve(values.to);
const common = {
  version: values.version,
  license: 'Apache-2.0',
  repository: { type: 'git', url: 'git+https://github.com/tributary-dev/tributary.git' },
  engines: { node: '>=18' },
};
const platforms = positionals.map(one => {
  const [, os, cpu, program] = one.match(/^(linux|darwin|win32)-(x64|arm64)=(.+)$/) ?? [];
  if (!program) throw new Error(`${one} is no PLATFORM=PROGRAM such as linux-x64=bin/tributary`);
  return { name: `@tributary-dev/tributary-${os}-${cpu}`, os, cpu, program };
});

function pack(manifest, files) {
  const folder = mkdtempSync(join(tmpdir(), 'tributary-npm-'));
  try {
    writeFileSync(join(folder, 'package.json'), JSON.stringify({ ...common, ...manifest }, null, 2));
    for (const [name, from] of Object.entries(files)) {
      copyFileSync(from, join(folder, name));
      if (!name.includes('.') || name.endsWith('.exe') || name.endsWith('.cjs')) chmodSync(join(folder, name), 0o755);
    }
    copyFileSync(join(root, 'LICENSE'), join(folder, 'LICENSE'));
    execFileSync('npm', ['pack', '--silent', '--pack-destination', to], { cwd: folder, stdio: ['ignore', 'ignore', 'inherit'] });
  } finally {
    rmSync(folder, { recursive: true });
  }
}

mkdirSync(to, { recursive: true });
for (const { name, os, cpu, program } of platforms) {
  const file = os === 'win32' ? 'tributary.exe' : 'tributary';
  pack({ name, description: `The program tributary for ${os} on ${cpu}.`, os: [os], cpu: [cpu], files: [file] }, { [file]: program });
}
pack(
  {
    name: '@tributary-dev/tributary',
    description: "Puts Claude Code and other agents behind a stock useChat: the gateway to the AI SDK's UI message stream.",
    keywords: ['ai-sdk', 'useChat', 'claude-code', 'agent', 'acp', 'resumable-stream'],
    bin: { tributary: 'tributary.cjs' },
    files: ['tributary.cjs'],
    optionalDependencies: Object.fromEntries(platforms.map(({ name }) => [name, values.version])),
  },
  { 'tributary.cjs': join(here, 'tributary.cjs'), 'README.md': join(root, 'README.md') },
);
packChat(values.version, to);
