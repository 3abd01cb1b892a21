// The colours of the gateway's own page. test/conformance/page uses the page itself, in Chromium.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';

const SOURCES = path.join(import.meta.dirname ?? path.dirname(new URL(import.meta.url).pathname), '../../web/src');

/** How much two colours of the form #rrggbb differ, as WCAG 2 counts it. */
function contrast(...colours) {
  const [light, dark] = colours
    .map(c => {
      const [r, g, b] = [1, 3, 5]
        .map(i => parseInt(c.slice(i, i + 2), 16) / 255)
        .map(v => (v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4));
      return 0.2126 * r + 0.7152 * g + 0.0722 * b;
    })
    .sort((a, b) => b - a);
  return (light + 0.05) / (dark + 0.05);
}

test('text can be read: each colour of text on each ground, light and dark', () => {
  const sheets = ['tokens.css', 'code.css'].map(name => fs.readFileSync(path.join(SOURCES, 'style', name), 'utf8')).join('');
  const colours = Object.fromEntries(
    [...sheets.matchAll(/--([\w-]+): light-dark\((#\w{6}), (#\w{6})\)/g)].map(([, name, ...pair]) => [name, pair]),
  );
  const grounds = ['ground', 'panel', 'raised', 'hover', 'accent-wash', 'ok-wash', 'bad-wash', 'ask-wash'];
  const pairs = [
    ['accent-ink', 'accent'],
    ...['ink', 'soft', 'faint', 'accent', 'ok', 'bad', 'ask'].flatMap(text => grounds.map(ground => [text, ground])),
    ...Object.keys(colours)
      .filter(name => name.startsWith('hue-'))
      .flatMap(text => ['panel', 'add-wash', 'del-wash'].map(ground => [text, ground])),
  ];
  assert.ok(pairs.length > 80, 'the style sheets are read');
  for (const theme of [0, 1]) {
    for (const [text, ground] of pairs)
      assert.ok(
        contrast(colours[text][theme], colours[ground][theme]) >= 4.5,
        `${text} on ${ground}: ${contrast(colours[text][theme], colours[ground][theme]).toFixed(2)}`,
      );
  }
});
