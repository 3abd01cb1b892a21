// A gateway for one client of this folder, and the client's page in front of it.
import { randomUUID } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import { after, before } from 'node:test';
import { load } from '../lib/frameworks.mjs';
import { leaveAll, open, openBrowser } from '../lib/person.mjs';
import { gateway } from '../lib/site.mjs';

export const HERE = import.meta.dirname ?? path.dirname(new URL(import.meta.url).pathname);

/** Starts both before the tests of the file: {site, fresh, unhurried}. settings: lines of the gateway's configuration. */
export function client(entry, { settings, resumes = false } = {}) {
  const built = fs.mkdtempSync(path.join(HERE, 'node_modules/.built-')),
    closeWindow = openBrowser(),
    own = {};
  before(async () => {
    own.site = await gateway(settings);
    const { mount } = await load(path.join(HERE, entry), built);
    mount.resumes = resumes;
    own.fresh = id => open(own.site, mount, id);
    /** A page whose turns take long enough to do something meanwhile, on a busy machine too. */
    own.unhurried = async () => {
      const id = randomUUID();
      await own.site.post('/api/sessions', { id, agent: 'unhurried' });
      return open(own.site, mount, id);
    };
  });
  after(async () => {
    leaveAll();
    await own.site.stop();
    fs.rmSync(built, { recursive: true, force: true });
    await closeWindow();
  });
  return own;
}
