/**
 * One jest project per kind of test. Nest 12 is ESM only, so jest runs with
 * `NODE_OPTIONS=--experimental-vm-modules` (the package scripts set it) and swc leaves the modules as ESM.
 */
const common = {
  rootDir: import.meta.dirname ?? '.',
  testEnvironment: 'node',
  extensionsToTreatAsEsm: ['.ts'],
  // `js` before `ts`: a package that ships both must be loaded as it was built.
  moduleFileExtensions: ['js', 'mjs', 'cjs', 'ts', 'json', 'node'],
  moduleNameMapper: { '^(\\.{1,2}/.*)\\.js$': '$1' },
  modulePathIgnorePatterns: ['<rootDir>/dist/'],
  transform: {
    '^.+\\.ts$': [
      '@swc/jest',
      {
        swcrc: false,
        sourceMaps: 'inline',
        module: { type: 'es6' },
        jsc: {
          target: 'es2023',
          parser: { syntax: 'typescript', decorators: true },
          transform: { legacyDecorator: true, decoratorMetadata: true },
          keepClassNames: true,
        },
      },
    ],
  },
};

const project = (displayName, ...testMatch) => ({
  ...common,
  displayName,
  testMatch: testMatch.map((pattern) => `<rootDir>/${pattern}`),
});

export default {
  projects: [
    project(
      'unit',
      'src/**/*.spec.ts',
      'test/torture/**/*.spec.ts',
      'examples/**/*.spec.ts',
      'web/src/**/*.spec.ts',
      'sdk/typescript/{src,test}/**/*.spec.ts',
    ),
    project('simulation', 'test/simulation/**/*.spec.ts'),
    project('contract', 'test/contract/**/*.spec.ts'),
    project('integration', 'test/integration/**/*.spec.ts'),
    project('e2e', 'test/e2e/**/*.spec.ts'),
  ],
  // A bound, not a claim about speed: servers are started and killed on machines that may be busy.
  testTimeout: 120_000,
  // Two cores, and several suites start real servers.
  maxWorkers: 2,
};
