// Which language a code is in, by the word after a fence or the name of a file.

const WORDS = {
  c: 'c h cc cpp cxx hpp c++ objective-c',
  csharp: 'csharp cs c#',
  css: 'css scss less',
  diff: 'diff patch udiff',
  docker: 'docker dockerfile containerfile',
  go: 'go golang',
  html: 'html htm vue svelte',
  ini: 'ini conf cfg properties env',
  java: 'java',
  javascript: 'javascript js mjs cjs jsx',
  json: 'json jsonc json5 jsonl ndjson',
  kotlin: 'kotlin kt kts',
  lua: 'lua',
  make: 'make makefile mk',
  markdown: 'markdown md mdx',
  python: 'python py pyi',
  rust: 'rust rs',
  shellscript: 'shellscript shell sh bash zsh fish console',
  sql: 'sql postgresql sqlite mysql',
  swift: 'swift',
  toml: 'toml',
  tsx: 'tsx typescript ts mts cts',
  xml: 'xml svg plist',
  yaml: 'yaml yml',
} as const;

export type Language = keyof typeof WORDS;

const NAMES = new Map(Object.entries(WORDS).flatMap(([language, words]) => words.split(' ').map(word => [word, language as Language])));

/** The language that a word names, if the page colours it. */
export const languageOf = (word: string | undefined) =>
  NAMES.get(
    (word ?? '')
      .trim()
      .split(/[\s{:]/)[0]!
      .toLowerCase(),
  );

/** The language of a file, by its name. */
export const languageOfFile = (path: string | undefined) => languageOf(/([^./\\]+)$/.exec(path ?? '')?.[1]);
