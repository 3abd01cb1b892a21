#!/usr/bin/env node
// Starts the program of this platform. npm installs the one optional package that fits.
const { spawn } = require('node:child_process');
const { optionalDependencies, version } = require('./package.json');

const wanted = `@tributary-dev/tributary-${process.platform}-${process.arch}`;
const program = process.platform === 'win32' ? 'tributary.exe' : 'tributary';

function fail(sentence) {
  console.error(`tributary: ${sentence}`);
  process.exit(1);
}

let path;
try {
  path = require.resolve(`${wanted}/${program}`);
} catch {
  const there = Object.keys(optionalDependencies ?? {}).map(name => name.replace('@tributary-dev/tributary-', ''));
  if (!(wanted in (optionalDependencies ?? {}))) {
    fail(
      `there is no program for ${process.platform}-${process.arch}, only for ${there.join(', ')}: build it with \`go install github.com/tributary-dev/tributary/cmd/tributary@latest\``,
    );
  }
  fail(`the package ${wanted} is missing, because npm left optional packages out: install it with \`npm install ${wanted}@${version}\``);
}

const child = spawn(path, process.argv.slice(2), { stdio: 'inherit' });
child.on('error', error => fail(`${path} cannot be started: ${error.message}`));
// A terminal sends its signals to the program, too. The program decides when it ends.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) {
  process.on(signal, () => child.kill(signal));
}
child.on('exit', (code, signal) => {
  if (!signal) process.exit(code);
  for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.removeAllListeners(name);
  process.kill(process.pid, signal);
});
