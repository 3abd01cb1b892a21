// What an app adds so that a tab shows what other tabs and other people do in its session: the lines that docs/guides/app.md shows.
import { files } from './page.mjs';

export const { followOthers } = await import(`data:text/javascript,${encodeURIComponent(files('guides/app.md').get('others.js'))}`);
