// The parts of the gateway's own page that the page in the frame shows.
import '../style/all';

export { ask, carry, me } from '../api/signin';
export { readSession, type Session } from '../api/api';
export { useSession, useSessions } from '../api/sessions';
export { Conversation } from '../conversation/conversation';
export { newId } from '../shell/route';
export { UI } from '../ui/provider';
