// The requests that wait for a person, as a message shows them.
import type { UIMessage } from 'ai';
import type { PendingRequest, RequestOption } from './events.js';
import type { AskPermissionInput, AskUserInput } from './message.js';

/** A part in the form that all releases share. */
interface Part { type: string; toolName?: string; toolCallId?: string; title?: string; state?: string; input?: unknown; approval?: { id: string } }

/** The requests of the newest message that nobody has answered, in the order in which the message shows them. */
export function pendingRequests(messages: readonly UIMessage[]): PendingRequest[] {
  const last = messages.at(-1);
  if (last?.role !== 'assistant') return [];
  return last.parts.flatMap(part => requestIn(part, last.id) ?? []);
}

/** The request that a part of a message makes now, as far as the part itself says; undefined if it makes none. */
export function requestIn(of: UIMessage['parts'][number], message_id: string): PendingRequest | undefined {
  const part = of as Part;
  const asks = part.state === 'input-available', about = { message_id, tool_call_id: part.toolCallId };
  if (part.type === 'tool-AskUser' && asks) {
    const { question, choices, multiple, header } = part.input as AskUserInput;
    return { ...about, id: part.toolCallId!, kind: 'question', title: header ?? question, text: question, choices, multiple };
  }
  if (part.type === 'tool-AskPermission' && asks) {
    const { request_id, title, options, tool, input, tool_call_id } = part.input as AskPermissionInput;
    return { message_id, tool_call_id, id: request_id, kind: 'permission', title, options, tool, input };
  }
  if (part.state !== 'approval-requested' || !part.approval) return undefined;
  const tool = part.toolName ?? part.type.replace(/^tool-/, ''), { id } = part.approval;
  if (tool !== 'permission') return { ...about, id, kind: 'permission', tool, title: part.title ?? tool, input: part.input };
  const own = part.input as { title?: string; tool?: string; input?: unknown; options?: RequestOption[] };
  return { ...about, id, kind: 'permission', tool: own.tool, title: own.title ?? part.title ?? tool, input: own.input, options: own.options };
}
