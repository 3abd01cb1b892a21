// How far a long run is, on standard error: every finished trial on a terminal, else a line every ten seconds.
const EVERY = 10000;

/** Returns {tick(line), done()}; tick counts one more of total as finished. */
export function progress(total, { out = process.stderr, now = Date.now } = {}) {
  const began = now();
  let finished = 0,
    told = 0,
    last = '';
  const tell = () => {
    told = finished;
    out.write(`${finished}/${total} after ${Math.round((now() - began) / 1000)} s${last ? `, ${last}` : ''}\n`);
  };
  const timer = out.isTTY ? null : setInterval(tell, EVERY);
  timer?.unref();
  return {
    tick(line) {
      finished++;
      last = line;
      if (out.isTTY) tell();
    },
    done() {
      clearInterval(timer);
      if (told && told < finished) tell();
    },
  };
}
