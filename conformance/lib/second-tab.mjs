// What an app adds so that a tab shows what other tabs and other people do in its session: the file that docs/guides/resume-and-tabs.md shows.
import { script } from './page.mjs';

export const { follow } = await import(`data:text/javascript,${encodeURIComponent(script('guides/resume-and-tabs.md', 'follow.ts'))}`);
