// The agents a run can have behind the gateway, and what goes with each.
import { startAgentOps } from './agentops.mjs';
import { startClaude } from './claude.mjs';
import { start } from './server.mjs';

export const AGENTS = {
  demo: { cases: 'cases', expected: 'expected-failures.json', jobs: 48, inTurn: false, start },
  // Two gateways, one as the agent of the other.
  agentops: { cases: 'cases/agentops', expected: null, jobs: 24, inTurn: true, start: startAgentOps },
  // A process of 200 MB for each session: few at a time, and every case × client once.
  claude: { cases: 'cases/claude', expected: null, jobs: 4, inTurn: true, start: startClaude },
};
