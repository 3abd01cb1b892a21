// Bytes of a UI message stream: given to a package's own transport and reader, and cut into streams.

/** The stock transport of this package, answered with these bytes. */
export const transportOf = (ai, bytes) =>
  new ai.DefaultChatTransport({
    api: 'http://bytes.test/api/chat',
    fetch: async () => new Response(bytes, { headers: { 'content-type': 'text/event-stream' } }),
  });

/** What readUIMessageStream of this package makes of the bytes: the last state of a fresh message, and the first error, also one that the stream tells. */
export async function readState(ai, bytes) {
  const stream = await transportOf(ai, bytes).sendMessages({
    chatId: 'bytes',
    messages: [],
    trigger: 'submit-message',
    messageId: undefined,
    abortSignal: undefined,
  });
  let failure = null,
    message;
  try {
    for await (const m of ai.readUIMessageStream({
      stream,
      terminateOnError: true,
      onError: e => {
        failure ??= e;
      },
    }))
      message = m;
  } catch (e) {
    failure ??= e;
  }
  return { message, error: failure };
}

/** The text without comment lines, which carry keepalives and no content. */
export const withoutComments = bytes => bytes.toString('utf8').replace(/^:[^\n]*\n(\n)?/gm, '');

/** The frames' data of one body, in order. */
export const dataOf = text =>
  text
    .split(/\r\n\r\n|\n\n|\r\r/)
    .map(frame =>
      frame
        .split(/\r\n|\n|\r/)
        .filter(l => l.startsWith('data:'))
        .map(l => l.slice(5).replace(/^ /, ''))
        .join('\n'),
    )
    .filter(Boolean);

/** Several streams in one text follow one another, each ended by [DONE]; what follows the last one is a stream without an end. */
export function streamsOf(text) {
  const out = [];
  let at = 0;
  for (const m of text.matchAll(/^data: ?\[DONE\][ \t]*(\r\n\r\n|\n\n|\r\r|$(?![\r\n]))/gm)) {
    const end = m.index + m[0].length;
    out.push(text.slice(at, end));
    at = end;
  }
  if (dataOf(text.slice(at)).length) out.push(text.slice(at));
  return out;
}
