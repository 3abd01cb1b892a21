import { useEffect, useState } from 'react';
import { history, type Page, type Session } from './api';
import { Chat } from './chat';

interface Props { id: string; known: boolean; agent: string; session: Session | undefined }

/** Loads the history first: the chat then starts from it. */
export function Conversation(props: Props) {
  const { id, known } = props;
  // Only what the first screen knew counts: a new chat that gets its address by its first prompt stays.
  const [asked] = useState(known);
  const [first, setFirst] = useState<Page | null>(asked ? null : { messages: [], before: null });
  const [problem, setProblem] = useState<string | null>(null);
  const [tries, setTries] = useState(0);
  useEffect(() => {
    if (!asked) return;
    let here = true;
    setProblem(null);
    history(id).then(page => { if (here) setFirst(page); }, (e: Error) => { if (here) setProblem(e.message); });
    return () => { here = false; };
  }, [id, asked, tries]);
  if (problem) {
    return (
      <div className="scroll"><div className="banner" role="alert">
        <span>{problem}</span><button onClick={() => setTries(n => n + 1)}>Try again</button>
      </div></div>
    );
  }
  if (!first) return <div className="scroll quiet" aria-busy="true" />;
  return <Chat {...props} first={first} known={asked} />;
}
