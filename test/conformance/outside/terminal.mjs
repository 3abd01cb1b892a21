// A program in a terminal of 100 × 40, by script of util-linux: its screen, and a person's keys.
import { spawn } from 'node:child_process';
import { own } from '../lib/owned.mjs';
import { until } from '../lib/site.mjs';

const ESC = '\u001b';

/** What is on the screen, for as much of a terminal's language as the program here speaks: it writes whole lines, or the whole screen. */
function screen() {
  let rows = [],
    row = 0,
    rest = '';
  const commands = new RegExp(`${ESC}\\[(\\??[\\d;]*)([A-Za-z])|\\r?\\n|[^${ESC}\\r\\n]+|\\r`, 'g');
  return {
    write(text) {
      text = rest + text;
      const open = new RegExp(`${ESC}(\\[[\\d;?]*)?$`).exec(text);
      rest = open ? open[0] : '';
      for (const [all, number, command] of text.slice(0, text.length - rest.length).matchAll(commands)) {
        if (command === 'H') row = Number(number.split(';')[0] || 1) - 1;
        else if (command === 'J') rows = [];
        else if (command === 'K') rows[row] = '';
        else if (command || all === '\r') continue;
        else if (all.endsWith('\n')) row++;
        else rows[row] = (rows[row] ?? '') + all;
      }
    },
    text: () => Array.from(rows, line => line ?? '').join('\n'),
  };
}

/** Starts it: {text, shows, keys, exited, kill}. */
export function terminal(argv, cwd) {
  const quoted = argv.map(a => `'${a.replaceAll("'", "'\\''")}'`).join(' ');
  const child = spawn('script', ['-qec', `stty cols 100 rows 40; exec ${quoted}`, '/dev/null'], {
    cwd,
    env: { ...process.env, TERM: 'xterm-256color' },
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  let code = null;
  const seen = screen(),
    gone = new Promise(r =>
      child.on('exit', c => {
        code = c;
        r(c);
      }),
    );
  child.stdout.setEncoding('utf8').on('data', text => seen.write(text));
  // The end of script hangs up the terminal, which ends the program in it. script itself ignores gentler signals while its program runs.
  const kill = () => {
    if (code === null) child.kill('SIGKILL');
  };
  const forget = own(async () => {
    kill();
    await gone;
  }, kill);
  void gone.then(forget);
  return {
    text: seen.text,
    shows: words => until(`the terminal shows ${JSON.stringify(words)}; it shows\n${seen.text()}`, () => seen.text().includes(words)),
    keys: text => child.stdin.write(text),
    exited: gone,
    async close() {
      kill();
      await gone;
    },
  };
}
