// React's own rules for components and hooks, which biome does not have in full: no ref is read or written while React renders, and
// effects name what they depend on. Everything else is biome's (biome.jsonc).
import { fileURLToPath } from 'node:url';
import parser from '@typescript-eslint/parser';
import { includeIgnoreFile } from 'eslint/config';
import hooks from 'eslint-plugin-react-hooks';

// The one .mjs with a component, for Node runs it as it stands. In the other files of that kind a function named use… is no hook.
const DRIVE = 'test/conformance/lib/drive.mjs';

export default [
  includeIgnoreFile(fileURLToPath(new URL('../../.gitignore', import.meta.url)), { gitignoreResolution: true }),
  { ignores: ['**/*.{js,mjs,cjs}', `!${DRIVE}`] },
  {
    files: ['**/*.{ts,tsx,jsx}', DRIVE],
    languageOptions: { parser, parserOptions: { ecmaFeatures: { jsx: true } } },
    linterOptions: { reportUnusedDisableDirectives: 'error' },
    plugins: { 'react-hooks': hooks },
    rules: { ...hooks.configs.recommended.rules, 'react-hooks/exhaustive-deps': 'error' },
  },
];
