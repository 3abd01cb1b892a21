// Each state of the pictures, in each view: no violation for axe-core, no content beyond the window, nothing that the policy forbids.
import { describe, test } from 'node:test';
import os from 'node:os';
import { accessible, open, useChromium, useGateway } from './lib/page.mjs';
import { agents, furnish, requestOf, states } from './lib/states.mjs';
import { fits, VIEWS } from './lib/views.mjs';

useChromium();
const site = useGateway(agents(os.tmpdir()));
let furnished;
/** The id of the request that waits, once the agents have said all. */
const request = () => (furnished ??= furnish(site).then(() => requestOf(site)));

for (const [at, [name]] of states('').entries()) {
  describe(`the state ${name}`, () => {
    for (const [view, options] of Object.entries(VIEWS)) {
      test(view, async () => {
        const [, hash, act] = states(await request())[at];
        const page = await open(site, hash, options);
        await act(page);
        await fits(page);
        await accessible(page, `${name} (${view})`);
        await page.leave();
      });
    }
  });
}
