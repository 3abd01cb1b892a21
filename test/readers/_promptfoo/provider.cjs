// A provider of promptfoo: a prompt goes to an agent of the gateway, under the trace of the test case. The environment
// names the gateway, its token and the agent.
module.exports = class {
  id() {
    return 'tributary';
  }

  async callApi(prompt, { traceparent }) {
    const { GATEWAY, GATEWAY_TOKEN } = process.env;
    const call = (path, init) =>
      fetch(GATEWAY + path, { ...init, headers: { authorization: `Bearer ${GATEWAY_TOKEN}`, ...init?.headers } });
    const body = { id: crypto.randomUUID(), messages: [{ id: 'm-1', role: 'user', parts: [{ type: 'text', text: prompt }] }] };
    const res = await call('/api/chat?agent=demo', {
      method: 'POST',
      headers: { 'content-type': 'application/json', traceparent },
      body: JSON.stringify(body),
    });
    const output = await res.text();
    for (const end = Date.now() + 30_000; Date.now() < end; await new Promise(r => setTimeout(r, 100))) {
      const { exporters } = await (await call('/api/exporters')).json();
      if (exporters.every(e => e.waiting === 0)) return { output };
    }
    return { error: 'the gateway has not sent the spans of the turn' };
  }
};
