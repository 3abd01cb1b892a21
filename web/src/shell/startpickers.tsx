import { lazy } from 'react';
import type { Agent } from '../api/api';
import { Button } from '../ui/button';
import { Late } from '../ui/late';
import { Select } from '../ui/select';
import { choicesOf, type Start } from './start';

const Popover = lazy(() => import('../ui/popover'));

const boxOf = ({ box }: Agent) => (box === 'off' ? 'without a box' : box && `box: ${box}`);

/** What a session begins with: its agent, and the mode and the model if the agent has told which there are. */
export default function StartPickers({ agents, start, onChange }: { agents: Agent[]; start: Start; onChange: (start: Start) => void }) {
  const agent = agents.find(a => (start.agent ? a.name === start.agent : a.default));
  return (
    <>
      {agents.length > 1 && (
        <Select
          small
          label="Agent"
          value={agent?.name ?? ''}
          onChange={name => onChange({ agent: agents.find(a => a.name === name)?.default ? '' : name, mode: '', model: '' })}
          choices={[
            ...(agent ? [] : [{ value: '', name: 'Choose an agent' }]),
            ...agents.map(a => ({
              value: a.name,
              name: a.name,
              disabled: a.available === false,
              note:
                a.available === false
                  ? (a.reason ?? 'It cannot start here.')
                  : [a.default && 'the default agent', boxOf(a)].filter(Boolean).join(', '),
            })),
          ]}
        />
      )}
      {agent?.box && <Box agent={agent} />}
      {agent?.modes?.length ? (
        <Select
          small
          quiet
          label="Mode"
          value={start.mode}
          choices={choicesOf(agent.modes, '', 'Mode')}
          onChange={mode => onChange({ ...start, mode })}
        />
      ) : null}
      {agent?.models?.length ? (
        <Select
          small
          quiet
          label="Model"
          value={start.model}
          choices={choicesOf(agent.models, '', 'Model')}
          onChange={model => onChange({ ...start, model })}
        />
      ) : null}
    </>
  );
}

/** The form of an agent's box. A panel says why it is weaker than the agent's setting. */
function Box({ agent }: { agent: Agent }) {
  const form = boxOf(agent);
  if (!agent.box_reason) return <span className="note">{form}</span>;
  return (
    <Late
      kind="dialog"
      trigger={
        <Button look="quiet" small>
          {form}
        </Button>
      }
    >
      {opened => (
        <Popover title="The agent's box" {...opened}>
          <p>The agent does not get the box of its setting: {agent.box_reason}.</p>
        </Popover>
      )}
    </Late>
  );
}
