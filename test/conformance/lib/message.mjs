// Looking at UI messages: plain copies, texts, tools, and comparison.

/** The value as JSON sees it: undefined keys are gone. */
export const plain = v => (v === undefined ? undefined : JSON.parse(JSON.stringify(v)));

export const textOf = m =>
  (m?.parts ?? [])
    .filter(p => p.type === 'text')
    .map(p => p.text)
    .join('');
export const reasoningOf = m =>
  (m?.parts ?? [])
    .filter(p => p.type === 'reasoning')
    .map(p => p.text)
    .join('');
export const isTool = p => p.type === 'dynamic-tool' || p.type.startsWith('tool-');
export const toolsOf = m => (m?.parts ?? []).filter(isTool);
export const assistants = messages => messages.filter(m => m.role === 'assistant');

/** The message with every id replaced by its rank of appearance, so that two turns of different sessions compare. */
export function anonymous(message) {
  const seen = new Map();
  const rank = id => {
    if (!seen.has(id)) seen.set(id, `id${seen.size}`);
    return seen.get(id);
  };
  const parts = plain(message?.parts ?? []).map(p => {
    for (const key of ['id', 'toolCallId', 'sourceId']) if (typeof p[key] === 'string') p[key] = rank(p[key]);
    if (p.approval?.id) p.approval.id = rank(p.approval.id);
    return p;
  });
  return { role: message?.role, parts };
}

/** Where two JSON values differ first, as one line; null when they are equal. */
export function difference(got, want, at = '') {
  if (Object.is(got, want)) return null;
  const here = at || 'the value';
  const show = v => {
    const s = JSON.stringify(v) ?? 'nothing';
    return s.length > 160 ? `${s.slice(0, 160)}…` : s;
  };
  if (typeof got === 'string' && typeof want === 'string') {
    let i = 0;
    while (i < got.length && got[i] === want[i]) i++;
    return `${here} differs at character ${i}: got ${show(got.slice(Math.max(0, i - 20)))}, want ${show(want.slice(Math.max(0, i - 20)))}`;
  }
  if (typeof got !== 'object' || typeof want !== 'object' || !got || !want || Array.isArray(got) !== Array.isArray(want)) {
    return `${here}: got ${show(got)}, want ${show(want)}`;
  }
  if (Array.isArray(got) && got.length !== want.length) {
    const kinds = list => list.map(x => x?.type ?? x?.role ?? (typeof x === 'string' ? x : typeof x)).join(' ');
    return `${here}: got ${got.length} (${kinds(got)}), want ${want.length} (${kinds(want)})`;
  }
  for (const key of new Set([...Object.keys(want), ...Object.keys(got)])) {
    const d = difference(got[key], want[key], at ? `${at}.${key}` : key);
    if (d) return d;
  }
  return null;
}

/** The id of the permission request that the message shows, as a button of the app would take it. */
export function requestOf(m) {
  const asked = toolsOf(m).find(p => p.state === 'approval-requested');
  if (asked) return asked.approval.id;
  const call = toolsOf(m).find(p => p.type === 'tool-AskPermission' && p.state === 'input-available');
  return call && (call.input?.request_id ?? call.toolCallId);
}

/** The ids of all requests that the message shows and nobody has answered. */
export const requestsOf = m =>
  toolsOf(m).flatMap(p =>
    p.state === 'approval-requested'
      ? [p.approval.id]
      : p.type === 'tool-AskPermission' && p.state === 'input-available'
        ? [p.input?.request_id ?? p.toolCallId]
        : [],
  );

/** The part that shows the request with that id, whatever became of it. */
export const requestPart = (m, id) =>
  toolsOf(m).find(p => p.approval?.id === id || (p.type === 'tool-AskPermission' && (p.input?.request_id ?? p.toolCallId) === id));

/** The AskUser calls that the message shows and nobody has answered. */
export const questionsOf = m => toolsOf(m).filter(p => p.type === 'tool-AskUser' && p.state === 'input-available');

/** The AskUser call that the message shows, while nobody has answered it. */
export const questionOf = m => toolsOf(m).find(p => p.type === 'tool-AskUser' && p.state === 'input-available');

/** Whether the chat has come to rest, or waits for a person on a stream that is held open. */
export const waitsFor = (chat, what) =>
  what(chat.last) !== undefined || chat.status === 'error' || (chat.status === 'ready' && chat.messages.length > 1);
