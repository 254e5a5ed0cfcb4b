// Rules of the architecture page that a machine can check. libs/testing/src/boundaries.int.spec.ts proves that each rule reports
// violations.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { basename, dirname, join, relative, resolve } from 'node:path';
import nx from '@nx/eslint-plugin/nx';
import { createProjectGraphAsync } from '@nx/devkit';
import tseslint from 'typescript-eslint';

// Without a graph on disk the boundary rule skips itself with a warning, so the graph is made first, here.
process.env.NX_DAEMON = 'false';
process.env.NX_NO_CLOUD = 'true';
await createProjectGraphAsync({ exitOnError: false });

const specs = ['**/*.spec.ts', '**/*.spec-fixture.ts'];
const nouns = ['apps/*/src/**/*.{events,state,decisions,claim,errors}.ts'];

// Services meet only in libs/contracts (architecture, Services share only contracts). A project whose tag is not listed may depend on nothing.
const lib = (name, ...needs) => ({
  sourceTag: `lib:${name}`,
  onlyDependOnLibsWithTags: needs.map((it) => `lib:${it}`),
});
const constraints = [
  lib('contracts'),
  lib('sqlite'),
  lib('postgres'),
  lib('cose'),
  lib('certificates'),
  lib('linked-data', 'contracts'),
  lib('event-store', 'sqlite', 'postgres'),
  lib('keys', 'event-store', 'sqlite', 'postgres'),
  lib('messaging', 'event-store', 'sqlite'),
  lib('read-model', 'event-store', 'sqlite', 'postgres'),
  lib(
    'service-kit',
    'contracts',
    'event-store',
    'messaging',
    'read-model',
    'keys',
    'linked-data',
    'sqlite',
    'postgres',
  ),
  { sourceTag: 'lib:testing', onlyDependOnLibsWithTags: ['type:lib'] },
  { sourceTag: '/^app:(?!platform$|e2e$)/', onlyDependOnLibsWithTags: ['type:lib'] },
  { sourceTag: 'app:platform', onlyDependOnLibsWithTags: ['type:lib', 'type:app'] },
  { sourceTag: 'app:e2e', onlyDependOnLibsWithTags: ['lib:contracts', 'lib:testing'] },
  { sourceTag: 'type:bench', onlyDependOnLibsWithTags: ['type:lib', 'app:issuance'] },
  { sourceTag: 'type:deploy', onlyDependOnLibsWithTags: ['type:lib'] },
];
const boundaries = (depConstraints) => [
  'error',
  {
    depConstraints,
    // A library's specs use libs/testing, which builds on the libraries: a circle of projects, not of modules.
    ignoredCircularDependencies: [['@attestry/testing', '*']],
    checkDynamicDependenciesExceptions: ['.*'],
    // The flags that every process of the platform starts with.
    allow: ['../../scripts/node-flags.mjs'],
  },
];
const withTesting = constraints.map((it) => ({
  ...it,
  onlyDependOnLibsWithTags: [...it.onlyDependOnLibsWithTags, 'lib:testing'],
}));

const cqrs = {
  name: '@nestjs/cqrs',
  allowImportNames: ['CommandBus', 'QueryBus', 'CqrsModule', 'CommandHandler', 'QueryHandler'],
  message:
    'Only commands and queries: EventBus, sagas and AggregateRoot lose errors (architecture, Commands and queries only).',
};
const deepImport = {
  // The one further entry has what loads the services themselves into a test.
  regex: '^@attestry/(?!testing/services$)[^/]+/',
  message: "Only a package's src/index.ts is public: import from '@attestry/<package>'.",
};
const nest = { regex: '^@nestjs/', message: 'No Nest here (architecture, Pure domain).' };
const nodeModules = {
  regex:
    '^(node:|(assert|buffer|child_process|crypto|dns|events|fs|http|https|net|os|path|perf_hooks|process|stream|timers|tls|url|util|v8|vm|worker_threads|zlib)(/|$))',
  message: 'No I/O, clock or crypto here: what they would give arrives as a fact (architecture, Pure domain).',
};
const impure = {
  regex: '^(?!\\.{1,2}/|@attestry/(contracts|cose|event-store)$)',
  allowTypeImports: true,
  message:
    'A noun folder imports its own files, contracts, the event store and libs/cose, which is pure; anything else only as a type.',
};
const engineClients = {
  regex:
    '^(pg|pg-.*|@nats-io/.*|@redis/.*|@eventstore/.*|@grpc/.*|node:sqlite|rate-limiter-flexible|@attestry/(sqlite|postgres))(/|$)',
  message: 'A service does not know which engine it runs on: it uses the ports.',
};
const adapters = {
  regex: '^@attestry/(event-store|messaging|read-model|keys|service-kit)$',
  importNamePattern:
    '^((Embedded|Postgres|Redis|Nats|EventStoreDb|InProcess|Sqlite)\\w*|Broker|Cluster|(open|migrate)(Postgres|Redis|Nats|EventStoreDb|Sqlite|Engines|ProcessEngines)\\w*|databases|natsOptions)$',
  message: 'A service does not know which engine it runs on: it uses the ports.',
};
const engineSettings = [
  {
    selector:
      'MemberExpression[property.name=/^(nats|redis|database|keysDatabase|migrationDatabase|eventStore)[A-Z]\\w*$/]',
    message: 'A service does not know which engine it runs on: no setting of an engine is read here.',
  },
];
const clock = { regex: 'clock', message: 'Time is an argument (architecture, Pure domain).' };
const isOptional = {
  name: 'class-validator',
  importNames: ['IsOptional'],
  message: '`Optional` of contracts: it does not let null pass.',
};
const isQuadratic = {
  name: 'class-validator',
  importNames: ['ArrayUnique'],
  message: '`Unique` of contracts: class-validator compares every entry with every other.',
};
const isReplaced = {
  name: 'class-transformer',
  message: 'Shapes are compiled (ADR 0040): `Normalize` and `Nested` of contracts declare what they need.',
};
const imports = (...patterns) => [
  'error',
  { paths: [cqrs, isOptional, isQuadratic, isReplaced], patterns: [deepImport, ...patterns] },
];

const swallowed = [
  {
    selector:
      'CallExpression[callee.property.name="catch"] > ArrowFunctionExpression:matches([body.type="Identifier"][body.name="undefined"], [body.type="BlockStatement"][body.body.length=0])',
    message: 'An error is handled or passed on, never swallowed.',
  },
];
const clocks = [
  {
    selector: 'NewExpression[callee.name="Date"][arguments.length=0]',
    message: 'Time is an argument: no `new Date()`.',
  },
  { selector: 'CallExpression[callee.name="Date"]', message: 'Time is an argument: no `Date()`.' },
  { selector: 'ImportExpression', message: 'A noun folder loads nothing.' },
];

/** A rule over every import and export of another file. */
const importRule = (messages, check) => ({
  meta: { type: 'problem', schema: [], messages },
  create(context) {
    const file = inRepository(context.filename);
    const visit = ({ source }) => {
      if (typeof source?.value !== 'string' || !/^\.{1,2}(\/|$)/.test(source.value)) return;
      const found = check(file, inRepository(resolve(dirname(context.filename), source.value)));
      if (found) context.report({ node: source, ...found, data: { path: source.value, ...found.data } });
    };
    return {
      ImportDeclaration: visit,
      ImportExpression: visit,
      ExportNamedDeclaration: visit,
      ExportAllDeclaration: visit,
    };
  },
});
const stayInPackage = importRule({ leaves: "'{{path}}' leaves the package '{{folder}}'." }, (file, target) => {
  const [, folder] = /^((?:libs|apps)\/[^/]+|bench)\//.exec(file) ?? [];
  return folder && !`${target}/`.startsWith(`${folder}/`) ? { messageId: 'leaves', data: { folder } } : undefined;
});

/** The folder around a file that holds a use case: a class with `@Operation` in the file of its name. */
const useCaseOf = (file) => {
  const folder = dirname(file);
  if (!/^apps\/[^/]+\/src\/./.test(folder)) return undefined;
  if (!useCases.has(folder)) {
    const main = join(import.meta.dirname, folder, `${basename(folder)}.ts`);
    useCases.set(folder, existsSync(main) && /^@Operation\(/m.test(readFileSync(main, 'utf8')));
  }
  return useCases.get(folder) ? folder : useCaseOf(folder);
};
const useCases = new Map();
const useCasesApart = importRule(
  {
    imported:
      "'{{path}}' belongs to the use case '{{useCase}}', which only its own files, the lists of providers and the generated list of use cases import: what others need goes to the folder of a noun or to a folder of its own (architecture, Use cases, not layers).",
  },
  (file, target) => {
    const useCase = useCaseOf(`${target}/`);
    return useCase && useCase !== useCaseOf(file) ? { messageId: 'imported', data: { useCase } } : undefined;
  },
);

/** Formats and profiles that contracts list, and what the files of the single formats export there. */
const contractsOfFormats = join(import.meta.dirname, 'libs/contracts/src/issuance/formats');
const [, profiles] = /^export const PROFILES = \{([^}]*)\}/m.exec(readFileSync(`${contractsOfFormats}.ts`, 'utf8'));
const formatNames = new Set([...profiles.matchAll(/[\w+-]{2,}/g)].map(([name]) => name));
const formatExports = new Set(
  readdirSync(contractsOfFormats)
    .map((file) => readFileSync(join(contractsOfFormats, file), 'utf8'))
    .flatMap((text) => [...text.matchAll(/^export (?:class|const|interface|type) (\w+)/gm)].map(([, name]) => name)),
);
/** The folder of a format's module in which a file lies. */
const formatOf = (file) => /^apps\/issuance\/src\/formats\/[^/]+(?=\/)/.exec(file)?.[0];
const formatsApart = {
  meta: {
    type: 'problem',
    schema: [],
    messages: {
      named:
        "'{{name}}' names a credential format: what only one format has belongs to its module (architecture, Folders).",
    },
  },
  create(context) {
    const file = inRepository(context.filename);
    const check = (node, name, names = formatNames) => {
      if (names.has(name)) context.report({ node, messageId: 'named', data: { name } });
    };
    return {
      ...(!formatOf(file) && {
        Literal: (node) => check(node, node.value),
        TemplateElement: (node) => check(node, node.value.cooked),
        ':matches(Property, MemberExpression)[computed=false] > Identifier': (node) => check(node, node.name),
      }),
      ':matches(ImportDeclaration, ExportNamedDeclaration[source], ExportAllDeclaration)'({ source, specifiers = [] }) {
        const path = source.value.startsWith('.') ? resolve(dirname(context.filename), source.value) : context.filename;
        const target = formatOf(inRepository(path));
        if (target && target !== formatOf(file))
          context.report({ node: source, messageId: 'named', data: { name: source.value } });
        if (!file.startsWith('apps/issuance/src/formats/') && !file.startsWith('libs/contracts/'))
          for (const node of specifiers) check(node, (node.imported ?? node.local).name, formatExports);
      },
    };
  },
};

/** More are the collaborators of several jobs. */
const MOST_COLLABORATORS = 8;
const fewCollaborators = {
  meta: {
    type: 'problem',
    schema: [],
    messages: {
      many: `A constructor has at most ${MOST_COLLABORATORS} parameters, not {{count}}: split the class by its jobs (ADR 0124).`,
      bundle:
        'A provider without a method only bundles its collaborators: what uses them takes those that it needs (ADR 0124).',
    },
  },
  create: (context) => ({
    'MethodDefinition[kind="constructor"]'({
      value: { params },
      parent: {
        body: members,
        parent: { decorators },
      },
    }) {
      const count = params.length;
      if (count > MOST_COLLABORATORS) context.report({ node: params[0], messageId: 'many', data: { count } });
      const isProvider = decorators?.some(({ expression }) => expression.callee?.name === 'Injectable');
      if (isProvider && members.length === 1 && params.some(({ type }) => type === 'TSParameterProperty'))
        context.report({ node: params[0], messageId: 'bundle' });
    },
  }),
};

/** First words of a comment that begins in the middle of a sentence. */
const FRAGMENT = /^[\s*]*(Of|What|Those|As|That|Whom|Whose|Which|Who|Also|Or|And|So|Like|Than|Too)\b/i;
const DIRECTIVE = /^\s*(?:eslint-|prettier-ignore|@\w)/;
/** Successive `//` lines are one comment, unless the line before is a directive. */
const continues = (comment, before) =>
  before?.type === 'Line' &&
  before.loc.start.line === comment.loc.start.line - 1 &&
  before.loc.start.column === comment.loc.start.column &&
  !DIRECTIVE.test(before.value);
const commentSubject = {
  meta: {
    type: 'suggestion',
    schema: [],
    messages: { fragment: "A comment begins with the subject of its sentence, not with '{{word}}' (CONTRIBUTING)." },
  },
  create: (context) => ({
    Program() {
      const comments = context.sourceCode.getAllComments();
      for (const [index, comment] of comments.entries()) {
        const [, word] = FRAGMENT.exec(comment.value) ?? [];
        if (word !== undefined && !(comment.type === 'Line' && continues(comment, comments[index - 1])))
          context.report({ loc: comment.loc, messageId: 'fragment', data: { word } });
      }
    },
  }),
};

function inRepository(file) {
  return relative(import.meta.dirname, file).replaceAll('\\', '/');
}

const attestry = {
  rules: {
    'stay-in-package': stayInPackage,
    'use-cases-apart': useCasesApart,
    'formats-apart': formatsApart,
    'few-collaborators': fewCollaborators,
    'comment-subject': commentSubject,
  },
};

export default tseslint.config(
  {
    ignores: [
      '**/dist/',
      'apps/platform/bundle/',
      '**/node_modules/',
      '.nx/',
      'tmp/',
      'coverage/',
      '.attestry/',
      'libs/testing/src/interface/',
    ],
  },
  { linterOptions: { reportUnusedDisableDirectives: 'error' } },
  {
    files: ['**/*.{mjs,js}', '{libs,apps}/*/src/**/*.ts', 'bench/**/*.ts', 'deploy/**/*.ts'],
    plugins: { attestry },
    rules: { 'attestry/comment-subject': 'error' },
  },
  {
    files: ['**/*.{mjs,js}'],
    extends: [tseslint.configs.base],
    rules: {
      eqeqeq: 'error',
      'no-empty': 'error',
      'no-var': 'error',
      'prefer-const': 'error',
      '@typescript-eslint/no-unused-vars': 'error',
    },
  },
  {
    files: ['{libs,apps}/*/src/**/*.ts', 'bench/**/*.ts', 'deploy/**/*.ts'],
    extends: [tseslint.configs.recommended],
    plugins: { '@nx': nx, attestry },
    languageOptions: { parserOptions: { projectService: true, tsconfigRootDir: import.meta.dirname } },
    rules: {
      eqeqeq: 'error',
      'no-empty': 'error',
      'no-fallthrough': 'error',
      'no-restricted-syntax': ['error', ...swallowed],
      '@nx/enforce-module-boundaries': boundaries(constraints),
      'attestry/stay-in-package': 'error',
      '@typescript-eslint/no-restricted-imports': imports(),
      '@typescript-eslint/no-unused-vars': [
        'error',
        { argsIgnorePattern: '^_', varsIgnorePattern: '^_', ignoreRestSiblings: true },
      ],
      '@typescript-eslint/no-explicit-any': 'error',
      '@typescript-eslint/no-empty-object-type': ['error', { allowInterfaces: 'with-single-extends' }],
      '@typescript-eslint/no-floating-promises': 'error',
      '@typescript-eslint/no-misused-promises': ['error', { checksVoidReturn: { arguments: false } }],
      '@typescript-eslint/await-thenable': 'error',
      '@typescript-eslint/only-throw-error': 'error',
    },
  },
  {
    // Adapters are chosen in libs/service-kit, by configuration, for the process that apps/platform starts.
    files: ['apps/*/src/**/*.ts'],
    ignores: [...specs, 'apps/{platform,e2e}/**'],
    rules: {
      '@typescript-eslint/no-restricted-imports': imports(engineClients, adapters),
      'no-restricted-syntax': ['error', ...swallowed, ...engineSettings],
    },
  },
  {
    files: ['apps/*/src/**/*.ts'],
    ignores: [...specs, 'apps/*/src/*.module.ts', 'apps/*/src/*/*.providers.ts', 'apps/*/src/use-cases.generated.ts'],
    rules: { 'attestry/use-cases-apart': 'error' },
  },
  {
    files: ['{libs,apps}/*/src/**/*.ts'],
    ignores: [
      ...specs,
      ...['apps/e2e/**', 'libs/testing/**', '**/*.generated.ts', 'apps/issuance/src/formats/formats.providers.ts'],
      ...['apps/issuance/src/formats/formats.ts', 'libs/contracts/src/issuance/{formats.ts,formats/**}'],
    ],
    rules: { 'attestry/formats-apart': 'error' },
  },
  {
    files: ['{libs,apps}/*/src/**/*.ts'],
    // Steps are functions: each names which of the dependencies it uses.
    ignores: [...specs, 'apps/e2e/**', 'libs/testing/**', 'apps/gateway/src/pipeline/dependencies.ts'],
    rules: { 'attestry/few-collaborators': 'error' },
  },
  { files: specs, rules: { '@nx/enforce-module-boundaries': boundaries(withTesting) } },
  {
    files: ['libs/contracts/src/**/*.ts'],
    ignores: specs,
    rules: { '@typescript-eslint/no-restricted-imports': imports(nest, nodeModules) },
  },
  {
    files: nouns,
    rules: {
      '@typescript-eslint/no-restricted-imports': imports(nest, nodeModules, impure, clock, engineClients, adapters),
      '@typescript-eslint/switch-exhaustiveness-check': 'error',
      'no-restricted-globals': [
        'error',
        ...['crypto', 'performance', 'fetch', 'process', 'console', 'setTimeout', 'setInterval', 'setImmediate'].map(
          (name) => ({ name, message: 'Events, state and decisions are pure (architecture, Pure domain).' }),
        ),
      ],
      'no-restricted-properties': [
        'error',
        { object: 'Date', property: 'now', message: 'Time is an argument.' },
        { object: 'Temporal', property: 'Now', message: 'Time is an argument.' },
        { object: 'Math', property: 'random', message: 'Ids and secrets are arguments.' },
        { object: 'globalThis', property: 'crypto', message: 'Ids and secrets are arguments.' },
      ],
      'no-restricted-syntax': ['error', ...swallowed, ...clocks, ...engineSettings],
    },
  },
);
