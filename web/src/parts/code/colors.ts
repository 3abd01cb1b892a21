import { useEffect, useState } from 'react';
import { idle } from '../later';
import type { Language } from './language';
import type { Line } from './line';

const MOST = 60_000; // characters; more takes longer than a reader should notice
const PAUSE = 120; // milliseconds between two colourings of a code that grows

/** The code's lines in colours; null until they are known, for codes in no known language, and while no reader is near. */
export function useColors(code: string, language: Language | undefined, near: boolean): Line[] | null {
  const [lines, setLines] = useState<Line[] | null>(null);
  const wanted = near && language !== undefined && code.length <= MOST;
  useEffect(() => {
    if (!wanted) return;
    let here = true;
    const color = async () => {
      const { highlight } = await import('./highlight');
      await idle();
      const all = here ? await highlight(code, language) : null;
      if (here) setLines(all);
    };
    const timer = setTimeout(() => {
      color().catch(() => {
        /* it stays without colours */
      });
    }, PAUSE);
    return () => {
      here = false;
      clearTimeout(timer);
    };
  }, [code, language, wanted]);
  return wanted ? lines : null;
}
