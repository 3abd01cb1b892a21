// A question of the agent, with its choices and room for other words.
import { useState } from 'react';
import { visibleText, type PendingRequest } from '@tributary/chat';
import { Visible } from '../parts/visible';
import { Button } from '../ui/button';
import { useAnswer, type Give } from './answer';

export function Question({ request, give }: { request: PendingRequest; give: Give }) {
  const { sent, problem, answer } = useAnswer(give);
  const [text, setText] = useState('');
  const [ticked, setTicked] = useState<string[]>([]);
  const { choices = [], multiple } = request;
  const toggle = (label: string) => setTicked(t => (t.includes(label) ? t.filter(x => x !== label) : [...t, label]));
  const question = request.text || request.title || 'The agent has a question.';
  return (
    <form
      className="ask"
      aria-label={`Question: ${visibleText(question)}`}
      onSubmit={e => {
        e.preventDefault();
        const own = text.trim();
        if (multiple && (ticked.length || own)) void answer({ value: own ? [...ticked, own] : ticked });
        else if (own) void answer({ value: own });
      }}
    >
      <p className="ask-title" dir="auto">
        <Visible text={question} />
      </p>
      {problem && (
        <p className="ask-problem" role="alert">
          {problem}
        </p>
      )}
      {!request.may_answer ? (
        <p className="ask-note">You may see this question. Somebody who collaborates in the session answers it.</p>
      ) : (
        <>
          {choices.length > 0 && (
            <div className="ask-options">
              {choices.map(c => (
                <Button
                  key={c.label}
                  disabled={sent}
                  aria-pressed={multiple ? ticked.includes(c.label) : undefined}
                  onClick={() => {
                    if (multiple) toggle(c.label);
                    else void answer({ value: c.label });
                  }}
                >
                  <span className="ask-option">
                    <span dir="auto">
                      <Visible text={c.label} />
                    </span>
                    {c.description && (
                      <small dir="auto">
                        <Visible text={c.description} />
                      </small>
                    )}
                  </span>
                </Button>
              ))}
            </div>
          )}
          <div className="ask-reply">
            <input
              className="input"
              dir="auto"
              value={text}
              disabled={sent}
              aria-label="Your answer"
              placeholder={choices.length ? 'Or say something else' : 'Your answer'}
              onChange={e => setText(e.target.value)}
            />
            <Button type="submit" look="primary" disabled={sent || !(text.trim() || ticked.length)}>
              Answer
            </Button>
          </div>
        </>
      )}
    </form>
  );
}
