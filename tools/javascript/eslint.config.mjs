// React's own rules for components and hooks, which biome does not have in full: no ref is read or written while React renders, and
// effects name what they depend on. Everything else is biome's (biome.jsonc).
import parser from '@typescript-eslint/parser';
import hooks from 'eslint-plugin-react-hooks';

export default [
  {
    files: ['**/*.{ts,tsx,jsx}'],
    languageOptions: { parser, parserOptions: { ecmaFeatures: { jsx: true } } },
    linterOptions: { reportUnusedDisableDirectives: 'error' },
    plugins: { 'react-hooks': hooks },
    rules: { ...hooks.configs.recommended.rules, 'react-hooks/exhaustive-deps': 'error' },
  },
];
