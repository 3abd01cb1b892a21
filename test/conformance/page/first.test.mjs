// The page as it comes up: signed in, one prompt, one answer, a reload.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { accessible, open, useChromium, useGateway } from './lib/page.mjs';

useChromium();
const site = useGateway();

for (const colorScheme of ['light', 'dark']) {
  test(`a prompt is answered, and a reload shows the same (${colorScheme})`, async () => {
    const page = await open(site, '', { colorScheme });
    await page.say('hello');
    const answer = page.getByText('I am the demo agent');
    await answer.first().waitFor();
    await accessible(page, 'a short conversation');
    await page.reload();
    await answer.first().waitFor();
    assert.equal(await answer.count(), 1, 'it is shown once');
    await page.leave();
  });
}
