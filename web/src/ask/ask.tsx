import type { PendingRequest } from '@tributary/chat';
import type { Give } from './answer';
import { Approval } from './approval';
import { Question } from './question';

/** The card of a request, of either kind. */
export const Ask = (props: { request: PendingRequest; give: Give; bare?: boolean }) =>
  props.request.kind === 'permission' ? <Approval {...props} /> : <Question {...props} />;
