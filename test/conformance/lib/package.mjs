// @tributary/chat as an app gets it: built, packed, and installed from the tarball, beside one of the clients.
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { transformSync } from 'esbuild';
import { ROOT } from './page.mjs';

const PACKAGE = path.join(ROOT, 'packages/chat'),
  MODULES = path.join(ROOT, 'test/conformance/node_modules');

/** The tools of the package's own folder. */
export const tool = name => path.join(PACKAGE, 'node_modules', name);

/** Packs the package as a release does, unless it was packed since its sources changed: the file's path. */
export function pack() {
  execFileSync('make', ['-C', ROOT, 'chat'], { stdio: ['ignore', 'ignore', 'inherit'] });
  return path.join(ROOT, 'bin/tributary-chat.tgz');
}

/** An app with the package from the tarball and one client. npm installs the package once for all apps of a folder. */
export function install(tarball, folder, client) {
  const app = path.join(folder, client.name),
    modules = path.join(app, 'node_modules'),
    installed = path.join(folder, 'installed');
  if (!fs.existsSync(installed)) {
    fs.mkdirSync(installed);
    fs.writeFileSync(path.join(installed, 'package.json'), '{"private": true, "type": "module"}');
    const options = ['--silent', '--offline', '--no-save', '--no-audit', '--no-fund', '--legacy-peer-deps'];
    // its one dependency, from where it is installed already
    execFileSync('npm', ['install', ...options, tarball, path.join(MODULES, 'eventsource-parser')], { cwd: installed });
  }
  fs.cpSync(installed, app, { recursive: true, verbatimSymlinks: true });
  fs.mkdirSync(path.join(modules, '@ai-sdk'));
  const link = (from, to) => fs.symlinkSync(from, path.join(modules, to));
  link(path.join(MODULES, `ai-${client.name}`), 'ai');
  link(path.join(MODULES, `react-${client.react}`), '@ai-sdk/react');
  return {
    folder: app,
    /** A file of test/conformance/chat-package/ as a module of the app. */
    load(name) {
      const source = fs.readFileSync(path.join(ROOT, 'test/conformance/chat-package', name), 'utf8'),
        out = path.join(app, `${name}.mjs`);
      fs.writeFileSync(path.join(app, name), source);
      fs.writeFileSync(out, transformSync(source, { loader: 'tsx', jsx: 'automatic', format: 'esm' }).code);
      return import(out);
    },
    /** A module of the package, as the app imports it. */
    entry: name => import(path.join(modules, '@tributary/chat/dist', `${name}.js`)),
  };
}
