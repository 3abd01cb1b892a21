// A load balancer that knows nothing of sessions: each request goes to the next gateway.
import http from 'node:http';
import net from 'node:net';
import { own } from './owned.mjs';

/** Balances over the gateways at these URLs, which may change: {base, stop}. */
export async function balance(urls) {
  let turn = 0;
  const next = () => urls()[turn++ % urls().length];
  const server = http.createServer((req, res) => {
    const to = next();
    const out = http.request({ host: to.hostname, port: to.port, method: req.method, path: req.url, headers: req.headers }, answer => {
      res.writeHead(answer.statusCode, answer.rawHeaders);
      answer.pipe(res);
      answer.on('error', () => res.destroy());
    });
    out.on('error', () => res.destroy());
    res.on('close', () => out.destroy());
    req.pipe(out);
  });
  server.on('upgrade', (req, socket, head) => {
    const to = next();
    const out = net.connect(to.port, to.hostname, () => {
      const lines = [`${req.method} ${req.url} HTTP/1.1`];
      for (let i = 0; i < req.rawHeaders.length; i += 2) lines.push(`${req.rawHeaders[i]}: ${req.rawHeaders[i + 1]}`);
      out.write(`${lines.join('\r\n')}\r\n\r\n`);
      out.write(head);
      out.pipe(socket);
      socket.pipe(out);
    });
    for (const [one, other] of [
      [socket, out],
      [out, socket],
    ]) {
      one.on('error', () => other.destroy());
      one.on('close', () => other.destroy());
    }
  });
  await new Promise(r => server.listen(0, '127.0.0.1', r));
  const stop = async () => {
    server.closeAllConnections();
    await new Promise(r => server.close(r));
    forget();
  };
  const forget = own(stop);
  return { base: `http://127.0.0.1:${server.address().port}`, stop };
}
