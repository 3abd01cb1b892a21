// The network between a page and its gateway, which a test cuts: Chromium's own offline mode leaves open streams as they are.
import net from 'node:net';

/**
 * A gateway as it is seen over a network that can be cut: site, with another address, cut(), mend(), connections(), how many there are, and refused(), how many came while it was cut. Cut, it ends all connections, and each new one at once.
 * site gets its own address, base, before the first connection.
 */
export async function overWire(site) {
  const open = new Set();
  let away = false,
    refused = 0;
  const server = net.createServer(near => {
    if (away) {
      refused++;
      near.resetAndDestroy();
      return;
    }
    const far = net.connect(new URL(site.base).port, '127.0.0.1');
    for (const [one, other] of [
      [near, far],
      [far, near],
    ]) {
      open.add(one);
      one
        .on('error', () => {})
        .on('close', () => {
          open.delete(one);
          other.destroy();
        })
        .pipe(other);
    }
  });
  await new Promise(r => server.listen(0, '127.0.0.1', r));
  const cut = () => {
    away = true;
    for (const socket of open) socket.resetAndDestroy();
  };
  server.unref(); // the browser and the gateway hold the connections
  return {
    ...site,
    base: `http://127.0.0.1:${server.address().port}`,
    cut,
    connections: () => open.size / 2,
    refused: () => refused,
    mend: () => {
      away = false;
    },
  };
}
