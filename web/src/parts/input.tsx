// The input of a call, for a person who decides on it or reads it: every key and every value stands here, open.
import { useEffect, useMemo, useState, type ReactNode } from 'react';
import { inputView, type InputChange } from '@tributary/chat';
import { Long } from './long';
import { Visible } from './visible';

/** More than this is folded. The end of a text stays in view, because a person reads the end of a command too. */
const ROOM = { characters: 3000, lines: 24, tail: 8 };

interface Props {
  input: unknown;
  /** The input_text of the gateway: JSON.parse has lost some of the input, so the text stands in its place. */
  inputText?: string;
  /** Keys that are shown elsewhere. */
  without?: readonly string[];
  /** The name of the file in which a long input is saved. */
  name: string;
}

export function Input({ input, inputText, without, name }: Props) {
  const { command, changes, texts, rest } = useMemo(() => inputView(input, without, inputText), [input, without, inputText]);
  const others = command !== undefined || changes.length > 0 || texts.length > 0 || without !== undefined;
  return (
    <>
      {inputText && <p className="input-note">A browser would change values of this input, so the input is shown as the agent wrote it.</p>}
      {command !== undefined && <Text text={command} name={name} label="The command" look="command" />}
      {changes.map((change, i) => (
        <Changed key={i} {...change} name={name} />
      ))}
      {texts.map(({ key, text }) => (
        <Text key={key} text={text} name={name} label={key || 'The input'} head={key} />
      ))}
      {rest !== undefined && (
        <Text
          text={rest}
          name={name}
          label={others ? 'The rest of the input' : 'The input'}
          head={others ? 'The rest of the input' : undefined}
        />
      )}
    </>
  );
}

interface TextProps {
  text: string;
  name: string;
  label: string;
  head?: string;
  look?: string;
  children?: (shown: string) => ReactNode;
}

function Text({ text, name, label, head, look = '', children = shown => <Visible text={shown} /> }: TextProps) {
  return (
    <figure className={`subject ${look}`}>
      {head && (
        <figcaption>
          <Visible text={head} />
        </figcaption>
      )}
      <Long text={text} name={`${name}.txt`} room={ROOM}>
        {(shown, place) => (
          <pre className={place} tabIndex={0} role="group" aria-label={label}>
            {children(shown)}
          </pre>
        )}
      </Long>
    </figure>
  );
}

const signed = (text: string, sign: '+' | '-' | ' ') =>
  text
    .replace(/\n$/, '')
    .split('\n')
    .map(line => `${sign} ${line}\n`)
    .join('');

function Changed({ path, before, after, name }: InputChange & { name: string }) {
  const [text, setText] = useState(() => (before && signed(before, '-')) + (after && signed(after, '+')));
  useEffect(() => {
    let here = true;
    if (before && after) {
      void import('diff').then(({ diffLines }) => {
        const pieces = diffLines(before, after, { timeout: 500 }); // undefined if it takes longer: the old text and the new one remain
        if (here && pieces) setText(pieces.map(p => signed(p.value, p.added ? '+' : p.removed ? '-' : ' ')).join(''));
      });
    }
    return () => {
      here = false;
    };
  }, [before, after]);
  return (
    <Text text={text.replace(/\n$/, '')} name={name} label="The change" head={path} look="change">
      {shown =>
        shown
          .replace(/\n$/, '')
          .split('\n')
          .map((line, i) => (
            <span key={i} className={{ '+': 'add', '-': 'del' }[line[0] ?? '']}>
              <Visible text={line} />
              {'\n'}
            </span>
          ))
      }
    </Text>
  );
}
