// Two gateways: one that stands where an Agent Ops session agent stands, with the demo agent, and the one under test, whose agent is a
// session there. They are two processes and talk by WebSocket.
import { http, start } from './server.mjs';

const PACE = '4ms';

/** Starts both: the gateway under test, with the other as far. farYAML: what the configuration of the other says besides. */
export async function startAgentOps(binary, { yaml = '', farYAML = '' } = {}) {
  const far = await start(binary, { yaml: `agents:\n  demo:\n    options: {pace: ${PACE}}\n${farYAML}` });
  try {
    const near = await start(binary, {
      agent: 'far',
      env: { ...process.env, FAR_TOKEN: far.token },
      yaml: `agents:\n  far:\n    adapter: agentops\n    url: ${far.base}\n    token_env: FAR_TOKEN\n${yaml}`,
    });
    return {
      ...near,
      far: { ...http(far), restart: far.restart, kill: far.kill, said: far.said },
      stderr: () => `${near.stderr()}\nthe other gateway:\n${far.stderr()}`,
      alive: () => near.alive() && far.alive(),
      stop: async () => {
        await near.stop();
        await far.stop();
      },
    };
  } catch (e) {
    await far.stop();
    throw e;
  }
}

/** Makes the session on the other side, where it must be before anybody here can talk to it. */
export async function begin(t, id = t.id) {
  const made = await t.site.far.post('/api/sessions', { id, agent: 'demo' });
  t.must('the session is there on the other side', made.status === 201, made.text);
}

/** What the other side has of the session, in the words of the same client. */
export const theirs = (t, id = t.id) => t.site.far.history(id, t.profile);

/** Waits until the other side has no turn of the session that runs. */
export async function farRests(t, id = t.id) {
  await t.until(async () => (await t.site.far.get(`/api/sessions/${encodeURIComponent(id)}`)).json?.state === 'idle');
}
