// Messages of the AI SDK in the shape of this app.
import type { DynamicToolUIPart, ToolUIPart, UIMessage } from 'ai';
import type { AgentStatus, Message, Part, Prompt } from './types';

type Tool = ToolUIPart | DynamicToolUIPart;
type Asked = { question?: string; choices?: { label: string }[] };

const toolsOf = (m: UIMessage) => m.parts.filter((p): p is Tool => p.type === 'dynamic-tool' || p.type.startsWith('tool-'));
const nameOf = (p: Tool) => (p.type === 'dynamic-tool' ? p.toolName : p.type.slice(5));
const isQuestion = (p: Tool) => p.type === 'tool-AskUser';
/** A call that only carries a request for another call. */
const isCarrier = (p: Tool) => p.type === 'dynamic-tool' && p.toolName === 'permission';

const STATUS: Partial<Record<Tool['state'], 'pending' | 'completed' | 'error'>> = {
  'input-streaming': 'pending', 'output-available': 'completed', 'output-error': 'error', 'output-denied': 'error',
};

function part(p: UIMessage['parts'][number]): Part[] {
  if (p.type === 'text') return [{ type: 'text', text: p.text }];
  if (p.type === 'data-error') return [{ type: 'error', message: (p.data as { message: string }).message }];
  if (p.type !== 'dynamic-tool' && !p.type.startsWith('tool-')) return [];
  const tool = p as Tool;
  if (isQuestion(tool) || isCarrier(tool)) return [];
  return [{
    type: 'tool-call', callId: tool.toolCallId, toolName: nameOf(tool), status: STATUS[tool.state] ?? 'running',
    args: tool.input, result: tool.output, error: tool.errorText ?? tool.approval?.reason,
  }];
}

export const messageOf = (m: UIMessage): Message => ({ id: m.id, role: m.role, parts: m.parts.flatMap(part) });

/** The requests of the last message that nobody has answered. */
export function promptsOf(messages: UIMessage[]): Prompt[] {
  const last = messages.at(-1);
  if (last?.role !== 'assistant') return [];
  return toolsOf(last).flatMap((p): Prompt[] => {
    if (isQuestion(p) && p.state === 'input-available') {
      const { question, choices } = p.input as Asked;
      return [{ id: p.toolCallId, type: 'question', title: question ?? '', actions: (choices ?? []).map(c => ({ id: c.label, label: c.label })) }];
    }
    if (p.state !== 'approval-requested') return [];
    const title = p.title || nameOf(p);
    return [{ id: p.approval.id, type: 'approval', title, actions: [{ id: 'approve', label: 'Approve' }, { id: 'deny', label: 'Deny' }] }];
  });
}

/** What the agent does, by what it wrote last. */
export function statusOf(status: 'submitted' | 'streaming' | 'ready' | 'error', messages: UIMessage[]): AgentStatus {
  if (status === 'error') return 'error';
  if (status === 'ready') return 'idle';
  const last = messages.at(-1)?.parts.at(-1);
  if (status === 'submitted' || !last) return 'thinking';
  return 'toolCallId' in last && !STATUS[last.state] ? 'tool_calling' : 'streaming';
}
