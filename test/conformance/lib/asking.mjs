// The buttons of an app for requests, in the way of each client.
import { plain, questionOf, requestOf, requestPart } from './message.mjs';

/** Clients that show approvals at all: major 5 has none in its protocol, and puts them as a tool with ?client=5. */
export const withoutApprovals = ({ client, profile }) =>
  client.major === 5 && profile === 'none' ? 'major 5 has no approvals in its protocol: its apps name it by ?client=5' : null;

/** sendAutomaticallyWhen of an app that answers approvals and questions. */
export const whenAnswered = ai => chat =>
  ai.lastAssistantMessageIsCompleteWithToolCalls(chat) || (ai.lastAssistantMessageIsCompleteWithApprovalResponses?.(chat) ?? false);

/** A chat of an app that sends answers by itself. */
export const talk = (t, init) => t.open({ sendAutomaticallyWhen: whenAnswered(t.client.ai), ...init });

/** Sends a prompt and waits until the person is asked: the request's id. */
export async function untilAsked(t, chat, prompt, name = 'the page shows the request') {
  if (prompt) chat.send(prompt);
  await chat.settled();
  const request = requestOf(chat.last);
  t.must(name, typeof request === 'string', `${chat.error?.message} ${JSON.stringify(chat.last?.parts)}`);
  return request;
}

/** The same for a question: its part. */
export async function untilQuestion(t, chat, prompt, name = 'the page shows the question') {
  if (prompt) chat.send(prompt);
  await chat.settled();
  const question = questionOf(chat.last);
  t.must(name, question, `${chat.error?.message} ${JSON.stringify(chat.last?.parts)}`);
  return question;
}

/**
 * Presses a button of a request. more: fields of the answer: reason, option, updated_input, interrupt. If a client does not send
 * answers by itself, decide sends them, as its app would do.
 */
export function decide(t, chat, request, approved, more = {}) {
  const asked = requestPart(
    chat.messages.findLast(m => requestPart(m, request)),
    request,
  );
  if (asked?.type === 'tool-AskPermission') {
    chat.answer({ tool: 'AskPermission', toolCallId: asked.toolCallId, output: { approved, ...more } });
    return;
  }
  const { reason, ...body } = more;
  const pressed = chat.approve({ id: request, approved, reason, options: { body } });
  if (!t.client.approves) pressed.then(() => chat.send(undefined, undefined, { body }));
}

/** Presses a button and sends nothing. */
export function press(chat, request, approved) {
  const asked = requestPart(
    chat.messages.findLast(m => requestPart(m, request)),
    request,
  );
  if (asked?.type === 'tool-AskPermission') chat.answer({ tool: 'AskPermission', toolCallId: asked.toolCallId, output: { approved } });
  else chat.approve({ id: request, approved });
}

/** Answers a question. */
export const reply = (chat, question, output) => chat.answer({ tool: 'AskUser', toolCallId: question.toolCallId, output });

/**
 * The chat with the rest of a turn that was answered from the side: on the stream that was held, by resumeStream(), or, for the first
 * releases, which copy the old message into a resumed one, on a page that is loaded when the turn is over.
 */
export async function restOf(t, chat) {
  await chat.settled();
  if (!requestOf(chat.last) && !questionOf(chat.last)) return chat;
  if (!t.client.keepsQuery) {
    const prompts = chat.messages.filter(m => m.role === 'user').length;
    await t.until(async () => (await t.trace('stop')).length === prompts);
    return t.reload();
  }
  chat.resume();
  await t.resumed(chat);
  return chat;
}

/** What a permission came to on screen, whatever the client shows it as. */
export function verdict(m, request) {
  const p = requestPart(m, request);
  if (p?.type === 'tool-AskPermission')
    return p.state === 'output-error' ? `error: ${p.errorText}` : p.output?.approved === true ? 'allowed' : 'denied';
  return { 'output-available': 'allowed', 'output-denied': 'denied', 'output-error': `error: ${p?.errorText}` }[p?.state] ?? p?.state;
}

/** History shows what the screen shows: the same parts in the same states. */
export async function sameInHistory(t, chat, name = 'history shows the same', id = t.id) {
  const look = messages => plain(messages).map(m => [m.role, ...(m.role === 'user' ? [] : m.parts.map(p => `${p.type} ${p.state ?? ''}`))]);
  t.equal(name, look(chat.messages), look(await t.history(id)));
}
