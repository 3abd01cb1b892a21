// A reader of server-sent events, for fetch: the browser's own EventSource cannot send a header.

export interface ServerEvent {
  /** The number of the last event that had one; empty if none had. */
  id: string;
  data: string;
}

/** The events of a body. touched is called for each piece of it, also for comments. */
export async function* serverEvents(body: ReadableStream<Uint8Array>, touched: () => void): AsyncGenerator<ServerEvent, void, undefined> {
  const reader = body.getReader(), decoder = new TextDecoder();
  let rest = '', id = '', data: string[] = [];
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      touched();
      const lines = (rest + decoder.decode(value, { stream: true })).split('\n');
      rest = lines.pop()!;
      for (const raw of lines) {
        const line = raw.replace(/\r$/, ''), text = line.slice(line.indexOf(':') + 1).replace(/^ /, '');
        if (line.startsWith('data:')) data.push(text);
        if (line.startsWith('id:')) id = text;
        if (line !== '' || data.length === 0) continue;
        yield { id, data: data.join('\n') };
        data = [];
      }
    }
  } finally {
    reader.cancel().catch(() => { /* it is lost already */ });
  }
}
