import { useEffect, useRef, useState } from 'react';
import type { Answer } from '@tributary/chat';

/** Hands an answer to the gateway; rejects with a sentence if the gateway does not take it. */
export type Give = (answer: Answer) => Promise<void>;

/** An answer on its way: buttons rest meanwhile, and a refusal is a sentence on the card. */
export function useAnswer(give: Give) {
  const [sent, setSent] = useState(false);
  const [problem, setProblem] = useState('');
  const here = useRef(true);
  useEffect(() => {
    here.current = true;
    return () => {
      here.current = false;
    };
  }, []);
  const answer = async (a: Answer) => {
    setSent(true);
    setProblem('');
    try {
      await give(a);
    } catch (e) {
      // else the card goes
      if (!here.current) return;
      setProblem((e as Error).message);
      setSent(false);
    }
  };
  return { sent, problem, answer };
}
