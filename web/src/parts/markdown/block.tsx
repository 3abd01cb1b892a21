import { createElement, type ReactNode } from 'react';
import type { Token, Tokens } from 'marked';
import { Code } from '../code/code';
import { Inlines } from './inline';

function List({ token, dir }: { token: Tokens.List; dir?: 'auto' }) {
  const tasks = token.items.some(item => item.task);
  const items = token.items.map((item, i) => (
    <li key={i} className={item.task ? 'task' : undefined}>
      {Inside(item.tokens)}
    </li>
  ));
  return token.ordered ? (
    <ol dir={dir} start={token.start === '' ? 1 : token.start}>
      {items}
    </ol>
  ) : (
    <ul dir={dir} className={tasks ? 'tasks' : undefined}>
      {items}
    </ul>
  );
}

function Table({ token }: { token: Tokens.Table }) {
  const cell = (of: 'th' | 'td', c: Tokens.TableCell, i: number) =>
    createElement(
      of,
      { key: i, dir: 'auto', className: c.align ? `to-${c.align}` : undefined, scope: of === 'th' ? 'col' : undefined },
      <Inlines tokens={c.tokens} />,
    );
  return (
    <div className="table" tabIndex={0} role="group" aria-label="Table">
      <table>
        <thead>
          <tr>{token.header.map((c, i) => cell('th', c, i))}</tr>
        </thead>
        <tbody>
          {token.rows.map((row, i) => (
            <tr key={i}>{row.map((c, k) => cell('td', c, k))}</tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

const Inside = (tokens: Token[]): ReactNode => tokens.map((t, i) => <One key={i} token={t} />);

/** One block of Markdown, with all that is in it. level: of a heading, 0 inside another block. dir: a block inside another one goes the way of that one. */
export function One({ token, level = 0, dir }: { token: Token; level?: number; dir?: 'auto' }): ReactNode {
  switch (token.type) {
    case 'space':
    case 'def':
      return null;
    case 'heading':
      return createElement(
        level ? `h${level}` : 'p',
        { dir, className: `heading depth-${token.depth as number}` },
        <Inlines tokens={token.tokens} />,
      );
    case 'paragraph':
      return (
        <p dir={dir}>
          <Inlines tokens={token.tokens} />
        </p>
      );
    case 'code':
      return <Code code={token.text as string} word={token.lang as string | undefined} />;
    case 'blockquote':
      return <blockquote dir={dir}>{Inside(token.tokens ?? [])}</blockquote>;
    case 'list':
      return <List token={token as Tokens.List} dir={dir} />;
    case 'table':
      return <Table token={token as Tokens.Table} />;
    case 'hr':
      return <hr />;
    case 'html':
      return (
        <p dir={dir} className="literal">
          {token.raw.trim()}
        </p>
      );
    default:
      return <Inlines tokens={[token]} />;
  }
}
