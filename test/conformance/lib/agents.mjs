// The agents a run can have behind the gateway, and what goes with each.
import { startAgentOps } from './agentops.mjs';
import { real } from './real.mjs';
import { start } from './server.mjs';

// A process of 200 MB or more for each session: few at a time, and every case × client once.
const few = { expected: null, jobs: 4, inTurn: true };
// The cases that hold for every real agent, whatever the names of its tools.
const any = name => ({ ...few, cases: 'cases/real', start: real(name) });

// Sixteen trials at a time share a process: a client that comes back after a moment must find its turn, however long the moment takes.
const PATIENT = 'sessions: {grace: 1m, grace_limit: 5m}\n';

export const AGENTS = {
  demo: {
    ...{ cases: 'cases', expected: 'expected-failures.json', jobs: 16, inTurn: false },
    start: (binary, options) => start(binary, { yaml: PATIENT, ...options }),
  },
  // Two gateways, one as the agent of the other.
  agentops: { cases: 'cases/agentops', expected: null, jobs: 12, inTurn: true, start: startAgentOps },
  claude: { ...few, cases: 'cases/claude', start: real('claude') },
  ...Object.fromEntries(
    ['codex', 'opencode', 'opencode-acp', 'claude-acp', 'codex-acp', 'gemini', 'qwen', 'copilot', 'kimi', 'kilo', 'openai'].map(name => [
      name,
      any(name),
    ]),
  ),
};
