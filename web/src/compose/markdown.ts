// A message as Markdown, for the clipboard.
import type { UIMessage } from 'ai';
import { factsOf } from '../parts/tool/state';

const fence = (text: string) => '`'.repeat(Math.max(3, ...[...text.matchAll(/`+/g)].map(run => run[0].length + 1)));
const block = (text: string) => {
  const ticks = fence(text);
  return `${ticks}\n${text.replace(/\n$/, '')}\n${ticks}`;
};
const shown = (value: unknown) => (typeof value === 'string' ? value : JSON.stringify(value, null, 2));

export function asMarkdown(message: UIMessage): string {
  return message.parts
    .flatMap((part): string[] => {
      if (part.type === 'text') return part.text ? [part.text] : [];
      if (part.type === 'file')
        return [part.url.startsWith('data:') ? `*${part.filename ?? part.mediaType}*` : `[${part.filename ?? part.url}](${part.url})`];
      if (part.type === 'source-url') return [`[${part.title ?? part.url}](${part.url})`];
      if (part.type === 'dynamic-tool' || part.type.startsWith('tool-')) {
        const tool = part as Extract<typeof part, { type: 'dynamic-tool' }>;
        const lines = [`**${tool.title ?? tool.toolName ?? part.type.slice(5)}**`];
        if (tool.input !== undefined) lines.push(block(factsOf(tool).input_text ?? shown(tool.input)));
        if (tool.state === 'output-available') lines.push(block(shown(tool.output)));
        if (tool.state === 'output-error') lines.push(block(tool.errorText));
        return [lines.join('\n')];
      }
      return [];
    })
    .join('\n\n');
}
