// A page whose gateway is restarted in mid-turn.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { answers, read, shot, told } from './lib/clock.mjs';
import { accessible, glimpse, open, until, useChromium, useGateway } from './lib/page.mjs';

useChromium();
const site = useGateway('agents:\n  demo: {}\n  steady: {adapter: demo, options: {pace: 25ms}}\n');

const field = page => page.getByRole('textbox', { name: 'Your message' });

for (const [how, signal, outcome, why] of [
  ['in order', 'SIGTERM', 'Stopped.', 'The turn was stopped because the gateway was shut down.'],
  ['without warning', 'SIGKILL', 'This turn failed.', 'The gateway was restarted while this turn ran, so it was not finished.'],
]) {
  test(`a gateway that is restarted ${how} in mid-turn: the page says so, and shows what became of the turn`, async () => {
    const id = `restart-${signal}`;
    await site.post('/api/sessions', { id, title: 'Restart', agent: 'steady' });
    const page = await open(site, `#/s/${id}`);
    await page.say('clock 1000');
    await until('the first words are older than 250 ms, which a kill may take', async () => (await read(page)).length > 20);
    await field(page).fill('a draft under the restart');
    const away = await glimpse(page, '.away', 'Trying again…');
    const restarted = site.restart(signal);
    await away();
    await shot(page, `restart-${signal}-1`);
    await restarted;
    await page.getByText('Trying again…').waitFor({ state: 'detached' });
    await page.locator('[role=log][aria-busy=false]').waitFor();
    await page.getByText(outcome, { exact: true }).waitFor();
    await shot(page, `restart-${signal}-2`);
    const kept = await told(site, id);
    assert.ok(kept.length > 0);
    await until('the page shows what the gateway has', async () => String(await read(page)) === String(kept));
    assert.equal(await field(page).inputValue(), 'a draft under the restart');
    assert.equal(await answers(page).count(), 1);
    await until('no sentence of the restart stays', async () => (await page.getByText('cannot be reached').count()) === 0);
    await accessible(page, 'a turn that a restart has ended');
    await page.reload();
    await page.getByText(why, { exact: true }).waitFor();
    assert.equal(await field(page).inputValue(), 'a draft under the restart');
    await field(page).fill('hello');
    await field(page).press('Enter');
    await page.getByText('I am the demo agent').waitFor();
    await page.leave();
  });
}
