// The controls of a session: the commands of its agent, and whether the caller may write, steer or look for files.
import { useEffect, useState } from 'react';
import type { UIMessage } from 'ai';
import { at, call, type Agent, type Session } from '../api/api';
import { me } from '../api/signin';

export interface Command {
  name: string;
  description?: string;
  hint?: string;
}

export interface Controls {
  commands: Command[];
  /** Whether the turn that runs takes messages. */
  steer: boolean;
  /** Whether people may look for files of the agent's workspace. */
  files: boolean;
  /** Why nobody can write here; null: they can. */
  blocked: string | null;
}

type Offered = Agent & { commands?: Command[] };

const NONE: Controls = { commands: [], steer: false, files: false, blocked: null };
const READER = 'You may read this session and not write to it: its owner can make you a collaborator.';

async function ofSession(id: string, role: Session['role']): Promise<Controls> {
  if (role === 'viewer') return { ...NONE, blocked: READER };
  const { commands = [], steer = false, files = false } = (await (await call('GET', `${at(id)}/controls`)).json()) as Partial<Controls>;
  return { commands, steer, files, blocked: null };
}

/** Before there is a session: the commands that its agent had when it was seen last. */
async function ofAgent(agent: string): Promise<Controls> {
  const [{ agents }, who] = await Promise.all([call('GET', '/api/agents').then(res => res.json() as Promise<{ agents: Offered[] }>), me()]);
  if (who?.user?.role === 'viewer')
    return {
      ...NONE,
      blocked: 'You may read the sessions of this gateway and not write to them: its administrator can make you a collaborator.',
    };
  if (!agents.length) return { ...NONE, blocked: 'This gateway has no agent: name one in its configuration.' };
  return { ...NONE, commands: agents.find(a => (agent ? a.name === agent : a.default))?.commands ?? [] };
}

/** status: that of the chat. An agent that has started may offer more. */
export function useControls(id: string, session: Session | undefined, agent: string, status: string): Controls {
  const [controls, setControls] = useState(NONE);
  const role = session?.role;
  useEffect(() => {
    let here = true;
    (role === undefined ? ofAgent(agent) : ofSession(id, role)).then(
      now => {
        if (here) setControls(now);
      },
      () => {
        /* no lists then; the next turn asks again */
      },
    );
    return () => {
      here = false;
    };
  }, [id, role, agent, status]);
  return controls;
}

/** The commands that the agent has told of in the conversation, the newest list. */
export function commandsIn(messages: UIMessage[]): Command[] {
  for (let i = messages.length - 1; i >= 0; i--) {
    const part = messages[i]!.parts.findLast(p => p.type === 'data-commands') as { data?: { commands?: Command[] } } | undefined;
    if (part?.data?.commands) return part.data.commands;
  }
  return [];
}

/** The files of the workspace that match, best first. */
export async function findFiles(id: string, q: string, signal: AbortSignal): Promise<string[]> {
  const res = await call('GET', `${at(id)}/files?q=${encodeURIComponent(q)}&limit=20`, undefined, signal);
  return ((await res.json()) as { files: string[] }).files;
}
