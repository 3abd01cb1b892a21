// Processes that this program starts, and their folders, end with the program in every case.
const owned = new Set();
let ending;

/** end() asks it to end and waits; kill() is for the last moment, when nothing can be waited for. Returns what lets go of it. */
export function own(end, kill) {
  const entry = { end, kill };
  owned.add(entry);
  return () => owned.delete(entry);
}

/** Ends all that is left, the newest first. */
export const endAll = () =>
  (ending ??= (async () => {
    for (const entry of [...owned].reverse()) {
      await entry.end().catch(() => {});
      owned.delete(entry);
    }
  })());

for (const [signal, code] of [
  ['SIGINT', 130],
  ['SIGTERM', 143],
  ['SIGHUP', 129],
]) {
  process.on(signal, () => {
    endAll().finally(() => process.exit(code));
  });
}
process.on('exit', () => {
  for (const entry of owned) entry.kill?.();
});
