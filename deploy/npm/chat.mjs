// Builds and packs @tributary/chat. Its folder needs the packages of its lock file: npm ci --prefix packages/chat.
import { execFileSync } from 'node:child_process';
import { copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = join(dirname(fileURLToPath(import.meta.url)), '..', '..'),
  chat = join(root, 'packages', 'chat');

/** Packs the package with this version into a folder, and returns the file's path. Several processes may do so at the same time. */
export function packChat(version, to) {
  const run = (program, ...args) => execFileSync(program, args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] }).trim();
  const folder = mkdtempSync(join(tmpdir(), 'tributary-npm-'));
  try {
    const { devDependencies, scripts, ...manifest } = JSON.parse(readFileSync(join(chat, 'package.json'), 'utf8'));
    writeFileSync(join(folder, 'package.json'), JSON.stringify({ ...manifest, version }, null, 2));
    run(process.execPath, join(chat, 'node_modules/typescript/bin/tsc'), '-p', chat, '--outDir', join(folder, 'dist'));
    copyFileSync(join(chat, 'README.md'), join(folder, 'README.md'));
    copyFileSync(join(root, 'LICENSE'), join(folder, 'LICENSE'));
    return join(to, run('npm', 'pack', folder, '--silent', '--pack-destination', to));
  } finally {
    rmSync(folder, { recursive: true });
  }
}
