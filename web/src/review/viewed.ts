// Which files a person has seen. A mark holds while the file's changes are the same.
import { Kept, useKept } from '../compose/kept';

const NONE: Record<string, string> = {};
const viewed = new Kept<Record<string, string>>('viewed', NONE, marks => Object.keys(marks).length === 0);

export const useViewed = (session: string) => useKept(viewed, session);
