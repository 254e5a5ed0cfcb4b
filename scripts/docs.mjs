// npm run docs: writes the lists of the changelog from the registry, configuration.md from the declared settings,
// metrics.md from the declared metrics, events.md from the event types and deploy/nats/users.conf from the rights on the bus, the chart's list of secret settings, the lists of services (service-lists.mjs) and of their use cases (use-case-lists.mjs) and the versions of the aggregates' states; then
// the interface definitions (OpenAPI), of which the types of the tests' client are built. With `--check` it writes nothing and fails when one of them is out of date, when an
// operation has no file, when the guide to phones names a library in another version than package.json, when a page refers to a file, a section or a command that does not exist, or when a comment cites an ADR that does not exist.
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { basename, dirname, join, relative, sep } from 'node:path';
import { pathToFileURL } from 'node:url';
import { natsUsers } from './nats-users.mjs';
import { serviceLists } from './service-lists.mjs';
import { stateVersions } from './state-versions.mjs';
import { fileOf, useCaseLists } from './use-case-lists.mjs';
import { writeInterfaceTypes } from './interface-types.mjs';
import { ensureBuilt, ensureInstalled, root } from './setup.mjs';

await ensureInstalled();

const check = process.argv.includes('--check');
const json = process.argv.includes('--json');
const read = (path) => readFileSync(join(root, path), 'utf8');
await ensureBuilt();

const built = (path) => import(pathToFileURL(join(root, path)).href);

await import('reflect-metadata');
const ts = (await import('typescript')).default;
const prettier = await import('prettier');
const { OPERATIONS } = await built('libs/contracts/dist/index.js');
const { openApiDocument } = await built('libs/testing/dist/openapi/openapi-document.js');
const { readOnlyMembersOf } = await built('libs/testing/dist/openapi/read-only-members.js');
const { MIGRATION_VARIABLES, SETTINGS } = await built('libs/service-kit/dist/config/config.js');
const { METRICS } = await built('libs/service-kit/dist/metrics/metric-definitions.js');

const { createGenerator } = await import('ts-json-schema-generator');

const shapes = declaredShapes(await sources('libs/contracts/src'));
const schemas = typeSchemas();
const lists = await serviceLists();
const pages = {
  ...lists,
  ...useCaseLists(OPERATIONS),
  'docs/reference/changelog.md': changelogPage(),
  'docs/reference/configuration.md': configurationPage(),
  'docs/reference/metrics.md': metricsPage(),
  'docs/reference/events.md': await eventsPage(),
  'deploy/nats/users.conf': await natsUsers('attestry'),
  'deploy/helm/attestry/files/secret-settings.json': secretSettings(),
  'deploy/helm/attestry/files/migration-settings.json': JSON.stringify([...MIGRATION_VARIABLES].sort()),
  'libs/service-kit/src/engines/state-versions.generated.ts': stateVersions(),
  ...interfaceFiles(),
};

const faults = [];
const written = [];
for (const { name, service, useCase } of OPERATIONS) {
  if (!fileOf({ service, useCase }))
    faults.push(`${name} is not implemented: apps/${service} has no ${useCase}/${useCase}.ts`);
}
for (const { name, since } of OPERATIONS)
  if (since !== undefined && !pages['docs/reference/changelog.md'].includes(`<!-- operations since ${since},`))
    faults.push(`docs/reference/changelog.md has no list of the operations since ${since}: ${name}`);
for (const [path, text] of Object.entries(pages)) {
  const options = await prettier.resolveConfig(join(root, path));
  // Tables are left as they are: padded to the widest cell they would change on every line with every new field.
  const isFormatted = /events\.md$|\.generated\.ts$|\.json$/.test(path) || (path in lists && /\.(md|yml)$/.test(path));
  const wanted = isFormatted ? await prettier.format(text, { ...options, filepath: path }) : text;
  const found = existsSync(join(root, path)) ? read(path) : undefined;
  if (found === wanted) continue;
  if (check) faults.push(`${path} is out of date: npm run docs`);
  else {
    writeFileSync(join(root, path), wanted);
    written.push(path);
    if (!json) console.log(`wrote ${path}`);
  }
}
if (!check) await writeInterfaceTypes();
faults.push(...(await brokenReferences()), ...(await brokenCitations()), ...wrongVersions());
for (const fault of faults) console.error(fault);
if (json) console.log(JSON.stringify({ ok: faults.length === 0, written, faults }));
else if (!check && faults.length === 0) console.log('docs: up to date, every link resolves');
process.exit(faults.length > 0 ? 1 : 0);

// ---- sources --------------------------------------------------------------------------------------------------------

/** TypeScript sources below a folder without specs, as [path, syntax tree], sorted by path. */
async function sources(folder) {
  const entries = await readdir(join(root, folder), { recursive: true, withFileTypes: true });
  return entries
    .filter((it) => it.isFile() && /\.ts$/.test(it.name) && !/\.(spec|spec-fixture|d|contract)\.ts$/.test(it.name))
    .map((it) => relative(root, join(it.parentPath, it.name)).split(sep).join('/'))
    .filter((path) => !path.includes('/dist/') && !path.includes('/node_modules/'))
    .sort()
    .map((path) => [path, ts.createSourceFile(path, read(path), ts.ScriptTarget.Latest, true)]);
}

/** Every class, interface and type literal of the contracts: name → {about, base, members}. */
function declaredShapes(files) {
  const found = new Map();
  for (const [, file] of files) {
    for (const node of file.statements) {
      if (ts.isTypeAliasDeclaration(node)) found.set(node.name.text, { alias: oneLine(node.type.getText()) });
      if (!ts.isClassDeclaration(node) && !ts.isInterfaceDeclaration(node)) continue;
      found.set(node.name.text, {
        about: docOf(node),
        base: node.heritageClauses?.[0]?.types[0]?.expression.getText(),
        members: node.members
          .filter((it) => ts.isPropertyDeclaration(it) || ts.isPropertySignature(it))
          .map((it) => ({
            name: it.name.getText(),
            optional: it.questionToken !== undefined,
            type: oneLine(it.type?.getText() ?? 'unknown'),
            about: docOf(it),
          })),
      });
    }
  }
  return found;
}

/** The comment directly above a node; one with an empty line after it describes the file. */
function docOf(node) {
  const file = node.getSourceFile();
  const text = ts
    .getJSDocCommentsAndTags(node)
    .filter((it) => !/\n\s*\n/.test(file.text.slice(it.end, node.getStart(file))))
    .map((it) => (typeof it.comment === 'string' ? it.comment : (ts.getTextOfJSDocComment(it.comment) ?? '')))
    .join(' ');
  return oneLine(text).replace(/\{@link (\w+)\}/g, '`$1`');
}

function oneLine(text) {
  return text.replace(/\s+/g, ' ').trim();
}

// ---- interface definitions --------------------------------------------------------------------------------------------

/** The changelog with the operations that each version added. */
function changelogPage() {
  const list = /(<!-- operations since (v[\d.]+), .*-->\n)[^]*?(?=<!-- end of operations -->)/g;
  return read('docs/reference/changelog.md').replace(list, (_, begin, version) => {
    const lines = OPERATIONS.filter(({ http, since }) => http && since === version).map(
      ({ http, summary }) => `- \`${http.method} ${http.path.replaceAll(/:(\w+)/g, '{$1}')}\`: ${summary}`,
    );
    // No line of a page is longer than 160 characters (structure.mjs).
    const wrapped = lines.map((line) => (line.length > 160 ? line.replace(/(.{1,158}) /, '$1\n  ') : line));
    return `${begin}\n${wrapped.map((line) => `${line}\n`).join('')}\n`;
  });
}

/** The version of the interface definitions: that of the newest section of the changelog. */
function interfaceVersion() {
  const [, version] = /^## (v\d+\.\d+\.\d+)$/m.exec(read('docs/reference/changelog.md')) ?? [];
  if (!version) throw new Error('docs/reference/changelog.md has no section of a version, ## vMAJOR.MINOR.PATCH');
  return version;
}

/** The OpenAPI documents and the list of read-only members that services need. */
function interfaceFiles() {
  const files = { 'libs/contracts/src/openapi/read-only-members.generated.ts': readOnlyMembers() };
  const version = interfaceVersion();
  const names = ['management', 'tenant'];
  const pathOf = (name) => `libs/contracts/src/openapi/${name}.json`;
  const former = names.map((name) => JSON.parse(read(pathOf(name))));
  for (const name of names) {
    const document = openApiDocument(name, OPERATIONS, { shapes: schemas, version, former });
    files[pathOf(name)] = JSON.stringify(document);
  }
  return files;
}

/** Text of the module with the read-only members of bodies, by operation. */
function readOnlyMembers() {
  const entries = OPERATIONS.filter((operation) => operation.http && operation.body)
    .map((operation) => [operation.name, Object.keys(readOnlyMembersOf(operation, schemas))])
    .filter(([, members]) => members.length > 0);
  return `// Generated by npm run docs from the classes of libs/contracts. Do not edit.
/** Members of the resource that a body may have and that are ignored in it (ADR 0065), by the name of the operation. */
export const READ_ONLY_MEMBERS: Readonly<Record<string, readonly string[]>> = ${JSON.stringify(Object.fromEntries(entries))};
`;
}

/** JSON Schema of every class that an operation over HTTP names, and of those they name, by name. */
function typeSchemas() {
  const generator = createGenerator({
    path: join(root, 'libs/contracts/src/**/*.ts'),
    tsconfig: join(root, 'tsconfig.json'),
    type: '*',
    expose: 'all',
    jsDoc: 'extended',
    extraTags: ['dependentRequired'],
    additionalProperties: true,
    encodeRefs: false,
    sortProps: false,
    skipTypeCheck: true,
  });
  const roots = OPERATIONS.filter(({ http }) => http).flatMap(({ http, body, params, query, response }) => [
    ...[body, params, query, ...[response].flat()].filter(Boolean),
    ...Object.values(http.accepts ?? {}),
    ...[http.acceptsQuery, http.acceptsHeaders, http.deferred].filter(Boolean),
  ]);
  const found = {};
  for (const name of new Set([...roots.map((it) => it.name), 'ErrorDetail']))
    Object.assign(found, generator.createSchema(name).definitions);
  // Names like `Record<string,unknown>` are not valid for components: their definitions are inlined.
  const inPlace = (schema) =>
    JSON.parse(JSON.stringify(schema), (_key, value) => {
      const name = /^#\/definitions\/(.+)$/.exec(value?.$ref ?? '')?.[1];
      if (name === undefined) return value;
      if (/^\w+$/.test(name)) return { ...value, $ref: `#/components/schemas/${name}` };
      return { ...inPlace(found[name]), ...(value.description && { description: value.description }) };
    });
  return Object.fromEntries(
    Object.keys(found)
      .filter((name) => /^\w+$/.test(name))
      .sort()
      .map((name) => [name, inPlace(found[name])]),
  );
}

// ---- configuration.md -----------------------------------------------------------------------------------------------

function configurationPage() {
  const rows = Object.values(SETTINGS).map(
    ({ env, about, default: shown, secret }) =>
      `| \`${env}\` | ${cell(about)} | ${shown === '' ? '' : `\`${cell(shown)}\``} | ${secret ? 'yes' : ''} |`,
  );
  return `<!-- Generated by npm run docs from libs/service-kit/src/config/config.ts. Do not edit. -->

# Configuration

Environment variables, read once at startup. If any are invalid, the process reports all of them by name and exits
with status 1. An empty value counts as absent. Secrets are never logged.

| variable | meaning | default | secret |
|---|---|---|---|
${rows.join('\n')}
`;
}

/** Settings that the chart rejects in a ConfigMap. */
function secretSettings() {
  const names = Object.values(SETTINGS).flatMap(({ env, secret }) => (secret ? [env] : []));
  return JSON.stringify(names.sort());
}

// ---- metrics.md -----------------------------------------------------------------------------------------------------

function metricsPage() {
  const rows = Object.values(METRICS).map(
    ({ name, type, labels, help }) =>
      `| \`${name}\` | ${type} | ${labels.map((label) => `\`${label}\``).join(', ')} | ${cell(help)} |`,
  );
  return `<!-- Generated by npm run docs from libs/service-kit/src/metrics/metric-definitions.ts. Do not edit. -->

# Metrics

Metrics that \`/metrics\` serves in the text format of Prometheus, on the port that [operations](../guides/operations.md#metrics) describes.
No label has a value that a caller chooses: no tenant, no path, no host. A histogram has \`_bucket\`, \`_sum\` and \`_count\`.

| metric | type | labels | meaning |
|---|---|---|---|
${rows.join('\n')}

In addition, every process serves the default metrics of the Prometheus client: \`process_…\` (CPU, memory, file descriptors) and \`nodejs_…\`
(heap, garbage collection, and the delay of the event loop as \`nodejs_eventloop_lag_…_seconds\`).
`;
}

// ---- events.md ------------------------------------------------------------------------------------------------------

async function eventsPage() {
  const files = (await sources('apps')).filter(([path]) => path.endsWith('.events.ts'));
  const claims = (await sources('apps')).filter(([path]) => path.endsWith('.claim.ts'));
  const serviceOf = (section) => section.slice(0, section.indexOf(':'));
  const stored = [
    ...files.flatMap(([path, file]) => domainEvents(path, file)),
    ...claims.flatMap(nameClaimEvents),
  ].sort((a, b) => serviceOf(a).localeCompare(serviceOf(b)));
  const facts = (await sources('libs/contracts/src')).flatMap(([path, file]) => integrationEvents(path, file));
  return `<!-- Generated by npm run docs from the event types. Do not edit. -->

# Events

**Domain events** are stored in streams permanently and belong to one service, whose decisions and
projections read them. **Integration events** are published by a service for other services on the durable feed. They have a smaller, more
stable shape, are published from a subscription to the event store, and have the id of the domain event. A new type or version of either is
read one release before it is written ([ADR 0125](../adr/0125-a-release-writes-what-its-predecessor-reads.md)).

Every domain event has the envelope \`{id, type, schemaVersion, data, metadata, chain}\`; the metadata is \`tenantId\`, \`requestId\`,
\`actor\`, \`operation\`, \`correlationId\`, \`causationId\`, \`traceparent?\`, \`occurredAt\`, \`partitionKey\` and, on the first event of a command, the \`record?\` of the
call ([ADR 0072](../adr/0072-records-travel-in-events.md)); \`chain\` links it to the previous event of its stream
([ADR 0067](../adr/0067-chain-version-2.md)). Members named \`sealed…\` are encrypted; decrypting one whose key
is destroyed returns \`Erased\`.

## Domain events

${stored.join('\n')}
## Integration events

The subject on the feed is \`event.<name>\`.

${facts.join('\n')}

Operation records that no domain event holds are published on the same feed as \`operation.<participant>.record\`, \`.started\` (START of an operation with effects
outside its append) and \`.recorder\` (state of a process that records); the participant is the gateway or service that records them. [ADR 0072](../adr/0072-records-travel-in-events.md)
and [ADR 0073](../adr/0073-rows-of-operations.md) describe how each START gets its outcome.
`;
}

/** One section for each union type called `…Event`. */
function domainEvents(path, file) {
  const [, service] = path.split('/');
  return file.statements
    .filter((node) => ts.isTypeAliasDeclaration(node) && /Event$/.test(node.name.text))
    .map((node) => {
      const variants = ts.isUnionTypeNode(node.type) ? node.type.types : [node.type];
      const items = variants.filter(ts.isTypeLiteralNode).map((literal) => {
        const member = (name) => literal.members.find((it) => it.name?.getText() === name)?.type;
        return `- \`${member('type').literal.text}\`${dataText(member('data'))}`;
      });
      if (!items.length) return '';
      const about = docOf(node);
      return `### ${service}: ${basename(path, '.events.ts')}\n\n${about ? `${about}\n\n` : ''}${items.join('\n')}\n\nDeclared in [${path}](../../${path}).\n`;
    })
    .filter(Boolean);
}

/** One section for each kind of `nameClaim`. */
function nameClaimEvents([path, file]) {
  const [, service] = path.split('/');
  return file.statements
    .filter((node) => /\bnameClaim\(/.test(node.getText()) && ts.isVariableStatement(node))
    .map((node) => {
      const kind = node.declarationList.declarations[0].initializer.arguments[0];
      const of = (name) => kind.properties.find((it) => it.name.getText() === name)?.initializer;
      const members = (name) => (of(name)?.elements ?? []).map(({ text }) => text);
      const item = (type, names) => `- \`${type.text}\`: ${names.map((name) => `\`${name}\``).join(', ')}`;
      const items = [item(of('claimed'), ['owner', ...members('members'), 'claimedAt'])];
      if (of('released')) items.push(item(of('released'), ['owner', ...members('heldBy')]));
      return `### ${service}: ${of('category').text}\n\nName claim ([ADR 0009](../adr/0009-creation-over-several-streams.md)). ${docOf(node)}\n\n${items.join('\n')}\n\nDeclared in [${path}](../../${path}).\n`;
    });
}

function dataText(type) {
  if (!type) return '';
  if (!ts.isTypeLiteralNode(type)) return `: \`${oneLine(type.getText())}\``;
  const members = type.members.map((it) => `\`${it.name.getText()}${it.questionToken ? '?' : ''}\``);
  return members.length ? `: ${members.join(', ')}` : '';
}

function integrationEvents(path, file) {
  const rows = [];
  const visit = (node) => {
    if (ts.isCallExpression(node) && node.expression.getText() === 'defineIntegrationEvent' && node.typeArguments) {
      const name = node.arguments[0].text;
      const [data] = node.typeArguments;
      const shape = shapes.get(data.getText());
      const members = ts.isTypeLiteralNode(data)
        ? dataText(data).slice(2)
        : (shape?.members ?? []).map((it) => `\`${it.name}${it.optional ? '?' : ''}\``).join(', ');
      rows.push(`- \`${name}\`: ${members} ([${basename(path)}](../../${path}))`);
    }
    ts.forEachChild(node, visit);
  };
  visit(file);
  return rows;
}

// ---- links ----------------------------------------------------------------------------------------------------------

/** References of the pages to files, sections and commands that do not exist. */
async function brokenReferences() {
  const { scripts } = JSON.parse(read('package.json'));
  const inDocs = (await readdir(join(root, 'docs'), { recursive: true })).map(
    (it) => `docs/${it.split(sep).join('/')}`,
  );
  const files = ['README.md', 'SECURITY.md', 'CONTRIBUTING.md', ...inDocs.filter((it) => it.endsWith('.md'))].sort();
  const found = [];
  for (const file of files) {
    if (!existsSync(join(root, file))) {
      found.push(`${file} is missing`);
      continue;
    }
    const text = withoutFences(read(file));
    for (const [, target] of text.matchAll(/\]\(([^)\s]+)\)/g)) found.push(...brokenLink(file, target));
    // A path in backticks is a promise too; one with a placeholder is a pattern.
    for (const [, path] of text.matchAll(/`((?:apps|libs|scripts|docs|bench|\.ci)\/[^`\s<>*{}…]*)`/g)) {
      if (!existsSync(join(root, path))) found.push(`${file}: ${path} does not exist`);
    }
    for (const [, name] of read(file).matchAll(/\bnpm (?:run )?((?<=run )[\w:-]+|test\b|start\b)/g)) {
      if (!(name in scripts)) found.push(`${file}: package.json has no script ${name}`);
    }
  }
  return found;
}

/** Comments, messages and pages cite ADRs by number, other pages by heading or rule: each must exist. */
async function brokenCitations() {
  const adrs = (await readdir(join(root, 'docs/adr'))).map((name) => name.slice(0, 4));
  const headingsOf = (path) =>
    [...read(path).matchAll(/^#+ (.+?)(?:: .*)?$|^- \*\*(.+?)\.\*\*/gm)].map(([, heading, rule]) => heading ?? rule);
  const sections = {
    architecture: headingsOf('docs/architecture.md'),
    'specification notes': headingsOf('docs/reference/specification-notes.md'),
  };
  const found = [];
  for (const path of citingFiles()) {
    // A citation may be broken over two lines of a comment.
    const text = read(path).replace(/\n\s*(?:\*(?!\/)|\/\/|#)? */g, ' ');
    for (const [, number] of text.matchAll(/\bADRs? (\d+)/g)) {
      if (!adrs.includes(number)) found.push(`${path}: there is no ADR ${number}`);
    }
    for (const [, page, name] of text.matchAll(/\((architecture|specification notes), ([^)]+)\)/g)) {
      if (!sections[page].includes(name)) found.push(`${path}: ${page} has no section or rule "${name}"`);
    }
    // Guides are excepted until their prose is rewritten.
    for (const [old] of text.matchAll(
      /\b(?:decisions? \d+|facts \d+(?:\.\d+)?\b(?!,)|architecture \d+\.\d+|record 0\d{3})/g,
    )) {
      found.push(`${path}: cite the ADR or the section with its rule, not "${old}"`);
    }
  }
  return found;
}

/** Libraries whose version in the guide is not that of package.json. */
function wrongVersions() {
  const guide = 'docs/guides/from-laptop-to-phone.md';
  const { dependencies, devDependencies } = JSON.parse(read('package.json'));
  const versions = { ...dependencies, ...devDependencies };
  const rows = [...read(guide).matchAll(/^- ((?:`[^`]+`(?:, )?)+) ([\d., ]+): /gm)];
  const found = rows.length > 0 ? [] : [`${guide}: no library with its version`];
  for (const [, names, given] of rows) {
    const libraries = [...names.matchAll(/`([^`]+)`/g)].map(([, name]) => name);
    const wanted = [...new Set(libraries.map((name) => versions[name] ?? 'none'))].join(', ');
    if (given !== wanted) found.push(`${guide}: package.json has ${libraries.join(', ')} in ${wanted}, not ${given}`);
  }
  return found;
}

/** Files of the repository that may hold a citation. */
function citingFiles() {
  const listed = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard', '-z'], {
    cwd: root,
    encoding: 'utf8',
    maxBuffer: 2 ** 26,
  });
  return [...new Set(listed.split('\0'))].filter(
    (path) => /\.(?:ts|mjs|md|sql|ya?ml|tpl|sh)$/.test(path) && existsSync(join(root, path)),
  );
}

function brokenLink(file, target) {
  if (/^[a-z]+:/i.test(target)) return [`${file}: ${target} is outside the repository`];
  const [path, anchor] = target.split('#');
  const wanted = path ? join(dirname(file), path).split(sep).join('/') : file;
  if (wanted.startsWith('..') || !existsSync(join(root, wanted))) return [`${file}: ${target} does not exist`];
  if (anchor === undefined || !wanted.endsWith('.md')) return [];
  const headings = [...withoutFences(read(wanted)).matchAll(/^#{1,6} +(.+)$/gm)].map(([, heading]) => slug(heading));
  return headings.includes(anchor) ? [] : [`${file}: ${wanted} has no section #${anchor}`];
}

function withoutFences(text) {
  return text.replace(/^ *```[\s\S]*?^ *```$/gm, '');
}

/** The anchor of a heading, as the usual renderers make it. */
function slug(heading) {
  return heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\s_-]/gu, '')
    .trim()
    .replace(/\s/g, '-');
}

function cell(text) {
  return text.replaceAll('|', '\\|');
}
