// A reader of server-sent events, for fetch: the browser's own EventSource cannot send a header.
import { createParser } from 'eventsource-parser';

export interface ServerEvent {
  /** The id of the last event that had one; empty if none had. */
  id: string;
  data: string;
}

/** The events of a body. */
export async function* serverEvents(body: ReadableStream<Uint8Array>): AsyncGenerator<ServerEvent, void, undefined> {
  const reader = body.getReader(),
    decoder = new TextDecoder(),
    events: ServerEvent[] = [];
  let id = '';
  const parser = createParser({ onEvent: event => events.push({ id: (id = event.id ?? id), data: event.data }) });
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      parser.feed(decoder.decode(value, { stream: true }));
      yield* events.splice(0);
    }
  } finally {
    reader.cancel().catch(() => {
      /* it is lost already */
    });
  }
}
