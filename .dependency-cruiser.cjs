/**
 * The order of the folders under src (ARCHITECTURE.md): a folder imports only from folders before it.
 * app.module.ts, main.ts and cli/ stand at the end and may import anything.
 */
const order = [
  'core',
  'platform',
  'security',
  'registry',
  'probe',
  'scheduler',
  'gateway',
  'observatory',
  'cli',
];

const backwards = order.slice(0, -1).map((folder, at) => ({
  name: `${folder}-imports-only-upwards`,
  comment: `src/${folder} comes before ${order.slice(at + 1).join(', ')}`,
  severity: 'error',
  from: { path: `^src/${folder}/` },
  to: { path: `^src/(${order.slice(at + 1).join('|')}|app\\.module|main)(/|\\.)` },
}));

module.exports = {
  forbidden: [
    {
      name: 'no-cycles',
      severity: 'error',
      from: {},
      to: { circular: true, viaOnly: { dependencyTypesNot: ['type-only'] } },
    },
    {
      name: 'core-is-pure',
      comment:
        'No Nest, no I/O: the core is testable by the million. semver, ipaddr.js, croner (asked for times) and the sketches are pure.',
      severity: 'error',
      from: { path: '^src/core/', pathNot: '\\.spec\\.ts$' },
      to: {
        pathNot: '^(src/core/|node_modules/((@types/)?semver|ipaddr\\.js|croner|@datadog/sketches-js)/)',
      },
    },
    ...backwards,
    {
      name: 'nobody-imports-the-observatory',
      severity: 'error',
      from: { path: '^src/', pathNot: '^src/(observatory/|app\\.module\\.ts|main\\.ts|cli/)' },
      to: { path: '^src/observatory/' },
    },
    {
      name: 'src-stands-alone',
      comment: 'What is shipped never imports tests, benches or scripts.',
      severity: 'error',
      from: { path: '^src/', pathNot: '\\.spec\\.ts$' },
      to: { path: '^(test|bench|scripts)/' },
    },
    {
      name: 'no-dev-dependency-in-src',
      severity: 'error',
      from: { path: '^src/', pathNot: '\\.spec\\.ts$' },
      to: {
        dependencyTypes: ['npm-dev'],
        dependencyTypesNot: ['type-only'],
        pathNot: 'node_modules/@types/',
      },
    },
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['import', 'require', 'node', 'default', 'types'],
    },
    exclude: { path: '^(dist|web|sdk/[^/]+/dist)/' },
  },
};
