// The blocks of a Markdown text while it grows.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { source } from './source.mjs';

const { blocksOf, levelsOf } = await source('parts/markdown/blocks.ts');

const TEXT = `# A heading

Some words with \`code\`
on two lines.

- one
- two
  - deeper

1. first

   still first

| a | b |
|---|---|
| 1 | 2 |

\`\`\`go
func main() {

}
\`\`\`

> quoted
lazy

Setext
===

    indented

the end`;

const raws = blocks => blocks.tokens.map(t => `${t.type} ${t.raw}`);

test('a text that grew by any steps has the blocks of the whole text', () => {
  for (const step of [1, 2, 7, 40]) {
    let grown;
    for (let end = 1; end <= TEXT.length; end += step) grown = blocksOf(TEXT.slice(0, end), grown);
    assert.deepEqual(raws(blocksOf(TEXT, grown)), raws(blocksOf(TEXT)), `steps of ${step}`);
  }
});

test('blocks before the last two stay the same objects, and an equal text is the same value', () => {
  const before = blocksOf(TEXT),
    after = blocksOf(`${TEXT} is near\n\nanother`, before);
  const kept = before.tokens.filter((t, i) => after.tokens[i] === t);
  assert.equal(kept.at(-1).type, 'space');
  assert.ok(before.tokens.length - kept.length <= 3 && kept.length > 10, `${kept.length} of ${before.tokens.length}`);
  assert.equal(blocksOf(TEXT, before), before);
});

test('a text that is another one is read anew; ends of lines of other systems are no difference', () => {
  const before = blocksOf('one\n\ntwo');
  assert.deepEqual(raws(blocksOf('other', before)), ['paragraph other']);
  assert.equal(blocksOf('one\r\n\r\ntwo', before), before);
});

test('no level of headings is skipped on the way down', () => {
  const levels = text => levelsOf(blocksOf(text).tokens).filter(Boolean);
  assert.deepEqual(levels('### a\n\n###### b\n\n# c\n\n### d'), [2, 3, 2, 3]);
  assert.deepEqual(levels('no heading'), []);
});
