// What an app adds so that a tab shows what other tabs and other people do in its session: the lines that docs/app.md shows.
import { files } from './page.mjs';

export const { followOthers } = await import(`data:text/javascript,${encodeURIComponent(files('app.md').get('others.js'))}`);
