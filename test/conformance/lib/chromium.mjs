// The Chromium of this machine.
import fs from 'node:fs';
import path from 'node:path';

/** The first of these programs in PATH, or undefined. */
export function which(...names) {
  for (const name of names) {
    for (const dir of process.env.PATH.split(':')) if (fs.existsSync(path.join(dir, name))) return path.join(dir, name);
  }
}

/** What Playwright's launch needs to start it; args: flags besides. Throws where there is none. */
export function inChromium(...args) {
  const executablePath = process.env.CHROMIUM ?? which('chromium', 'chromium-browser', 'google-chrome');
  if (!executablePath) throw new Error('There is no Chromium: install Debian’s package chromium, or name the program in CHROMIUM.');
  return { executablePath, args: ['--no-sandbox', ...args] };
}

/**
 * The same for tests that need no notifications: Debian's package chromium-headless-shell,
 * which takes half the processor time, where it is installed.
 */
export function inHeadlessChromium(...args) {
  const executablePath = process.env.CHROMIUM ?? which('chromium-headless-shell');
  return executablePath ? { executablePath, args: ['--no-sandbox', ...args] } : inChromium(...args);
}
