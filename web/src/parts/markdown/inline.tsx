import { Fragment, type ReactNode } from 'react';
import { Square, SquareCheck } from 'lucide-react';
import type { Token, Tokens } from 'marked';
import { Picture } from '../picture';
import { characters, safe } from './words';

/** A link that leaves the page; an address of another kind is text. */
export function Link({ href, title, children }: { href: string; title?: string | null; children: ReactNode }) {
  const to = safe(href);
  if (!to)
    return (
      <span className="no-link" title={href}>
        {children}
      </span>
    );
  return (
    <a href={to} title={title ?? undefined} target="_blank" rel="noopener noreferrer">
      {children}
    </a>
  );
}

function Image({ token }: { token: Tokens.Image }) {
  const name = characters(token.text);
  if (/^data:image\//i.test(token.href)) return <Picture url={token.href} name={name || undefined} />;
  return (
    <Link href={token.href} title={token.title}>
      {name || token.href}
    </Link>
  ); // the page loads nothing from elsewhere
}

const Box = ({ checked }: { checked: boolean }) => (
  <span className={checked ? 'box checked' : 'box'} role="img" aria-label={checked ? 'done:' : 'to do:'}>
    {checked ? <SquareCheck size={15} aria-hidden="true" /> : <Square size={15} aria-hidden="true" />}
  </span>
);

/** HTML stays text; a line break is the exception, because tables have no other. */
const Html = ({ raw }: { raw: string }) => (/^<br\s*\/?>$/i.test(raw.trim()) ? <br /> : raw);

function Inline({ token, literal }: { token: Token; literal: boolean }): ReactNode {
  switch (token.type) {
    case 'text':
    case 'escape': {
      if (token.type === 'text' && token.tokens) return <Inlines tokens={token.tokens} />;
      return literal || token.type === 'escape' ? (token.text as string) : characters(token.text as string);
    }
    case 'strong':
      return (
        <strong>
          <Inlines tokens={token.tokens} />
        </strong>
      );
    case 'em':
      return (
        <em>
          <Inlines tokens={token.tokens} />
        </em>
      );
    case 'del':
      return (
        <del>
          <Inlines tokens={token.tokens} />
        </del>
      );
    case 'codespan':
      return <code>{token.text as string}</code>;
    case 'br':
      return <br />;
    case 'link':
      return (
        <Link href={token.href as string} title={token.title as string | null}>
          <Inlines tokens={token.tokens} literal={token.autolink === true} />
        </Link>
      );
    case 'image':
      return <Image token={token as Tokens.Image} />;
    case 'checkbox':
      return <Box checked={token.checked as boolean} />;
    case 'html':
      return <Html raw={token.raw} />;
    default:
      return token.raw;
  }
}

/** The inside of a line. literal: character references stand for themselves. */
export const Inlines = ({ tokens, literal = false }: { tokens: Token[] | undefined; literal?: boolean }) =>
  tokens?.map((token, i) => (
    <Fragment key={i}>
      <Inline token={token} literal={literal} />
    </Fragment>
  ));
