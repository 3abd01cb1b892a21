// The shared worker. The name of its file has a hash, so a page of another version has a worker of its own.
import { hold, serve, type News } from './sockets';

const lock = `tributary-worker ${crypto.randomUUID()}`,
  held = hold(lock);

addEventListener('connect', event => {
  const port = (event as MessageEvent).ports[0]!;
  serve(port);
  void held.then(() => port.postMessage({ lock } satisfies News));
});
