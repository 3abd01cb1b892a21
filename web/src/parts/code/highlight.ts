// Colours code with shiki. This module is a chunk of its own, and so is each language.
import { createCssVariablesTheme, createHighlighterCore, type HighlighterCore, type LanguageInput } from 'shiki/core';
import { createJavaScriptRegexEngine } from 'shiki/engine/javascript';
import type { Language } from './language';
import type { Line } from './line';

const LOADERS: Record<Language, LanguageInput> = {
  c: () => import('shiki/langs/c.mjs'),
  csharp: () => import('shiki/langs/csharp.mjs'),
  css: () => import('shiki/langs/css.mjs'),
  diff: () => import('shiki/langs/diff.mjs'),
  docker: () => import('shiki/langs/docker.mjs'),
  go: () => import('shiki/langs/go.mjs'),
  html: () => import('shiki/langs/html.mjs'),
  ini: () => import('shiki/langs/ini.mjs'),
  java: () => import('shiki/langs/java.mjs'),
  javascript: () => import('shiki/langs/javascript.mjs'),
  json: () => import('shiki/langs/json.mjs'),
  kotlin: () => import('shiki/langs/kotlin.mjs'),
  lua: () => import('shiki/langs/lua.mjs'),
  make: () => import('shiki/langs/make.mjs'),
  markdown: () => import('shiki/langs/markdown.mjs'),
  python: () => import('shiki/langs/python.mjs'),
  rust: () => import('shiki/langs/rust.mjs'),
  shellscript: () => import('shiki/langs/shellscript.mjs'),
  sql: () => import('shiki/langs/sql.mjs'),
  swift: () => import('shiki/langs/swift.mjs'),
  toml: () => import('shiki/langs/toml.mjs'),
  tsx: () => import('shiki/langs/tsx.mjs'),
  xml: () => import('shiki/langs/xml.mjs'),
  yaml: () => import('shiki/langs/yaml.mjs'),
};

// The theme has names of colours, no colours: the style sheet has a class for each.
const PREFIX = '--hue-';
const theme = createCssVariablesTheme({ name: 'names', variablePrefix: PREFIX, fontStyle: false });

let shared: Promise<HighlighterCore> | undefined;
const highlighter = () =>
  (shared ??= createHighlighterCore({ themes: [theme], langs: [], engine: createJavaScriptRegexEngine({ forgiving: true }) }));

const hueOf = (color: string | undefined) => /--hue-token-([\w-]+)/.exec(color ?? '')?.[1];

/** The lines of a code as coloured pieces. */
export async function highlight(code: string, language: Language): Promise<Line[]> {
  const it = await highlighter();
  if (!it.getLoadedLanguages().includes(language)) await it.loadLanguage(LOADERS[language]);
  return it
    .codeToTokens(code, { lang: language, theme: 'names', tokenizeMaxLineLength: 2000, tokenizeTimeLimit: 200 })
    .tokens.map(line => line.map(t => ({ text: t.content, hue: hueOf(t.color) })));
}
