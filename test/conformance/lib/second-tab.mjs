// The code of an app that shows the turns of other tabs and other people in a tab: the file that docs/guides/resume-and-tabs.md shows.
import { script } from './page.mjs';

export const { follow } = await import(`data:text/javascript,${encodeURIComponent(script('guides/resume-and-tabs.md', 'follow.ts'))}`);
