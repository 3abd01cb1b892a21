// The sentences about a request.
import { visibleText, type Answer, type PendingRequest, type RequestOption } from '@tributary/chat';

export const allows = (o: RequestOption) => !!o.kind?.startsWith('allow');
export const denies = (o: RequestOption) => !!o.kind?.startsWith('reject');

const YES = ['allow', 'approve', 'accept', 'yes'],
  NO = ['deny', 'reject', 'decline', 'no'];

/**
 * What an option does, if its name does not say it: the name does not begin with a usual word for its kind, or has a word for the other.
 * The agent writes the names. internal/quote/option.go has the same rule for terminals.
 */
export function effect({ name, kind }: RequestOption): 'allows' | 'denies' | undefined {
  const yes = allows({ name, kind, id: '' });
  if (!yes && !denies({ name, kind, id: '' })) return undefined;
  const [own, other] = yes ? [YES, NO] : [NO, YES],
    words = name
      .toLowerCase()
      .split(/[^\p{L}\p{M}\p{N}'’]+/u)
      .filter(Boolean);
  const first = words[words[0] === 'always' ? 1 : 0];
  return first !== undefined && own.includes(first) && !words.some(word => other.includes(word)) ? undefined : yes ? 'allows' : 'denies';
}

/** What was decided, in one sentence. */
export function decision(request: PendingRequest, answer: Answer): string {
  if ('value' in answer) return visibleText(`You answered: ${[answer.value].flat().join(', ')}`);
  const option = request.options?.find(o => o.id === answer.option);
  const yes = option ? !denies(option) : answer.approved === true;
  const how = [
    answer.updated_input !== undefined && 'as you edited it',
    option?.scope && option.kind?.endsWith('always') && option.scope,
    answer.reason && `because: ${answer.reason}`,
  ]
    .filter(Boolean)
    .join(', ');
  return visibleText(`You ${yes ? 'allowed' : 'denied'} “${request.title}”${how && `, ${how}`}.`);
}

/** How long ago, in words that stay short. */
export function ago(at: string, now = Date.now()): string {
  const minutes = Math.max(0, Math.round((now - Date.parse(at)) / 60_000));
  if (minutes < 1) return 'just now';
  if (minutes < 60) return `${minutes} min ago`;
  if (minutes < 24 * 60) return `${Math.round(minutes / 60)} h ago`;
  return `${Math.round(minutes / 60 / 24)} d ago`;
}
