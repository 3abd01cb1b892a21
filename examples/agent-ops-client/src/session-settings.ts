// The settings of each session in this browser. aiChat swaps the two hooks; without an entry the session has the old one.
import { useState } from 'react';

export interface SessionSettings { aiChat: boolean }

const key = (session: string) => `session-settings:${session}`;

function read(session: string): SessionSettings {
  try { return { aiChat: false, ...JSON.parse(localStorage.getItem(key(session)) ?? '{}') as Partial<SessionSettings> }; } catch { return { aiChat: false }; }
}

export function useSessionSettings(session: string) {
  const [settings, setSettings] = useState(() => read(session));
  const change = (next: SessionSettings) => {
    localStorage.setItem(key(session), JSON.stringify(next));
    setSettings(next);
  };
  return [settings, change] as const;
}
