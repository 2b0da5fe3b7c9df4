import tseslint from 'typescript-eslint';

export default tseslint.config(
  { ignores: ['build', 'labextension', 'lib', 'src/contract'] },
  ...tseslint.configs.strictTypeChecked,
  {
    languageOptions: { parserOptions: { project: ['./tsconfig.json', './test/tsconfig.json'] } },
    rules: {
      '@typescript-eslint/restrict-template-expressions': ['error', { allowNumber: true }],
      // A slot of a signal is given its `this` beside it.
      '@typescript-eslint/unbound-method': 'off',
      '@typescript-eslint/no-confusing-void-expression': ['error', { ignoreArrowShorthand: true }]
    }
  },
  {
    // A test that is declared is awaited by its runner.
    files: ['test/**'],
    rules: { '@typescript-eslint/no-floating-promises': 'off' }
  }
);
