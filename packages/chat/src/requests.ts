// The requests that wait for a person, as a message shows them.
import type { UIMessage } from 'ai';
import type { PendingRequest } from './events.js';
import type { AskPermissionInput, AskUserInput } from './message.js';

/** A part in the form that all releases share. */
interface Part {
  type: string; toolName?: string; toolCallId?: string; title?: string; state?: string; input?: unknown; approval?: { id: string };
  callProviderMetadata?: { tributary?: { input_text?: string } };
}

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
    const { request_id, title, options, tool, input, input_text, tool_call_id } = part.input as AskPermissionInput;
    return { message_id, tool_call_id, id: request_id, kind: 'permission', title, options, tool, input, input_text };
  }
  if (part.state !== 'approval-requested' || !part.approval) return undefined;
  const tool = part.toolName ?? part.type.replace(/^tool-/, '');
  return { ...about, id: part.approval.id, kind: 'permission', tool, title: part.title ?? tool, input: part.input, input_text: part.callProviderMetadata?.tributary?.input_text };
}
