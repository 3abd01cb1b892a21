// Comes before every other import: zod must not try whether it may compile code, the page's policy forbids it.
import { config } from 'zod';

config({ jitless: true });
