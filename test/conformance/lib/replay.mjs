// Plays recorded streams to a real client: its transport and its Chat.
import { isTool, plain, reasoningOf, textOf } from './message.mjs';
import { dataOf } from './sse.mjs';

// The end of the stream in its own words. An error comes last on screen, so it wins.
function endingOf(chunks) {
  const types = chunks.map(c => c?.type);
  const failed = chunks.find(c => c?.type === 'error');
  if (failed) return { ending: 'error', errorText: failed.errorText };
  if (types.includes('abort')) return { ending: 'abort', bare: !types.includes('finish') };
  return types.includes('finish') ? { ending: 'finish' } : { ending: 'none' };
}

/** Reads streams as the turns of one chat: {turns, errors}; short leaves out the parts of each message. */
export async function replay(client, streams, short) {
  let at = 0;
  const transport = new client.ai.DefaultChatTransport({
    api: 'http://bytes.test/api/chat',
    fetch: async () => new Response(streams[at], { headers: { 'content-type': 'text/event-stream' } }),
  });
  const chat = new client.sdk.Chat({
    id: 'replay',
    transport,
    generateId: (
      n => () =>
        `local-${n++}`
    )(0),
  });
  const turns = [],
    errors = [];
  for (; at < streams.length; at++) {
    const data = dataOf(streams[at]);
    const chunks = data
      .filter(d => d !== '[DONE]')
      .map(d => {
        try {
          return JSON.parse(d);
        } catch {
          return null;
        }
      });
    const { ending, errorText, bare } = endingOf(chunks);
    const problem = text => errors.push({ stream: at, problem: text });
    await chat.sendMessage({ text: `stream ${at}` });
    const message = chat.messages.at(-1).role === 'assistant' ? plain(chat.messages.at(-1)) : null;
    const own = ending === 'error' && chat.status === 'error' && chat.error?.message === errorText;
    if (chat.status === 'error' && !own) problem(String(chat.error?.message).replace(/\s+/g, ' ').slice(0, 400));
    if (chat.status !== 'error' && ending === 'error') problem('the stream holds an error chunk the client never reached');
    if (!['ready', 'error'].includes(chat.status)) problem(`the client ends in status ${chat.status}`);
    if (!chunks.length) problem('the stream holds no chunk');
    if (data.at(-1) !== '[DONE]') problem('the stream does not end in [DONE]');
    if (ending === 'none') problem('the stream has no finish, abort or error');
    const left = (message?.parts ?? []).filter(p => p.state === 'streaming' || p.state === 'input-streaming');
    // Only a turn that another one supersedes may end by abort alone, with everything open.
    const open = (message?.parts ?? []).filter(p => p.providerExecuted && p.state === 'input-available');
    if (open.length && !bare)
      problem(`${open.length} tool call(s) never get an output: ${open.map(p => p.toolName ?? p.type.slice(5)).join(', ')}`);
    if (left.length && !bare) problem(`${left.length} part(s) are left streaming: ${left.map(p => p.type).join(', ')}`);
    turns.push({
      id: message?.id ?? null,
      text: textOf(message),
      reasoning: reasoningOf(message),
      tools: (message?.parts ?? [])
        .filter(isTool)
        .map(p => ({ name: p.toolName ?? p.type.slice(5), state: p.state, ...(p.errorText ? { errorText: p.errorText } : {}) })),
      ending,
      ...(errorText === undefined ? {} : { errorText }),
      ...(message?.metadata ? { metadata: message.metadata } : {}),
      ...(short ? {} : { parts: message?.parts ?? [] }),
    });
  }
  const ids = turns.map(t => t.id).filter(Boolean);
  if (new Set(ids).size !== ids.length) errors.push({ problem: `two streams use the same message id: ${ids.join(' ')}` });
  return { turns, errors };
}
