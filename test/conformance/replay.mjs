#!/usr/bin/env node
// Reads recorded UI message streams with the real clients (transport and Chat) and prints what each made of them.
import fs from 'node:fs';
import { isDeepStrictEqual, parseArgs } from 'node:util';
import { chosen, load } from './lib/clients.mjs';
import { replay } from './lib/replay.mjs';
import { streamsOf } from './lib/sse.mjs';

const USAGE = `usage: node replay.mjs [--client C] [--short] FILE.sse… (- reads standard input)
Several streams in one file follow one another, each ended by "data: [DONE]"; they become the turns of one chat.
Prints one JSON document. Exit status 0 when no client found an error and all agree on text, tools and ending; 1 otherwise; 2 on bad usage.
An error chunk of the stream itself is its ending ("error"), not an error of the client.
  --client C   only these clients: 5.0.0 … 7.0.173, or a major; repeatable
  --short      leave out the parts of each message`;

async function main() {
  let o;
  try {
    o = parseArgs({
      allowPositionals: true,
      options: { client: { type: 'string', multiple: true }, short: { type: 'boolean' }, help: { type: 'boolean' } },
    });
    if (o.values.help) {
      console.log(USAGE);
      return 0;
    }
    if (!o.positionals.length) throw new Error('name at least one file');
    o.names = chosen(o.values.client);
    o.files = o.positionals.map(f => ({ file: f, text: fs.readFileSync(f === '-' ? 0 : f, 'utf8') }));
  } catch (e) {
    console.error(`${e.message}\n${USAGE}`);
    return 2;
  }
  const clients = await Promise.all(o.names.map(load));
  const said = console.error;
  console.error = () => {};
  const out = [];
  for (const { file, text } of o.files) {
    const streams = streamsOf(text),
      results = {},
      differ = [];
    const gist = r => r.turns.map(({ text: t, reasoning, tools, ending }) => ({ t, reasoning, tools, ending }));
    for (const c of clients) results[c.name] = await replay(c, streams, o.values.short);
    for (const c of clients.slice(1))
      if (!isDeepStrictEqual(gist(results[c.name]), gist(results[clients[0].name])))
        differ.push(`${c.name} differs from ${clients[0].name}`);
    if (!streams.length) differ.push('the file holds no stream');
    const errors = clients.flatMap(c => results[c.name].errors.map(e => ({ client: c.name, ...e })));
    out.push({
      file,
      ok: !errors.length && !differ.length,
      streams: streams.length,
      errors,
      differ,
      turns: results[clients.at(-1).name].turns,
    });
  }
  console.error = said;
  const ok = out.every(f => f.ok);
  console.log(JSON.stringify({ ok, clients: o.names, files: out }, null, 2));
  return ok ? 0 : 1;
}

process.exitCode = await main();
setTimeout(() => process.exit(), 300).unref();
