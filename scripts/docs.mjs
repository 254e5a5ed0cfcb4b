// npm run docs: writes docs/reference/operations.md and the lists of the changelog from the registry, configuration.md from the declared settings,
// metrics.md from the declared metrics, events.md from the event types and deploy/nats/users.conf from the rights on the bus, the chart's list of secret settings, the lists of services (service-lists.mjs) and of their use cases (use-case-lists.mjs) and the versions of the aggregates' states; then
// the interface definitions (OpenAPI), the shapes they are made of and the types of the client the tests use. With `--check` it writes nothing and fails when one of them is out of date, when an
// operation has no file, when the guide to phones names a library in another version than package.json, when a page refers to a file, a section or a command that does not exist, or when a comment cites an ADR that does not exist.
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { basename, dirname, join, relative, sep } from 'node:path';
import { pathToFileURL } from 'node:url';
import { natsUsers } from './nats-users.mjs';
import { serviceLists } from './service-lists.mjs';
import { stateVersions } from './state-versions.mjs';
import { useCaseLists } from './use-case-lists.mjs';
import { ensureBuilt, ensureInstalled, root } from './setup.mjs';

await ensureInstalled();

const check = process.argv.includes('--check');
const json = process.argv.includes('--json');
const read = (path) => readFileSync(join(root, path), 'utf8');
// Before the build: the interface definitions contain the version.
const versionPage = { 'libs/contracts/src/openapi/interface-version.generated.ts': interfaceVersion() };
if (!check) for (const [path, text] of Object.entries(versionPage)) writeFileSync(join(root, path), text);
await ensureBuilt();

const built = (path) => import(pathToFileURL(join(root, path)).href);

await import('reflect-metadata');
const ts = (await import('typescript')).default;
const prettier = await import('prettier');
const { getMetadataStorage } = await import('class-validator');
const { OPERATIONS, ROLES, PERMISSIONS, NO_MESSAGE, openApiDocument } = await built('libs/contracts/dist/index.js');
const { MIGRATION_VARIABLES, SETTINGS } = await built('libs/service-kit/dist/config.js');
const { METRICS } = await built('libs/service-kit/dist/metrics/metric-definitions.js');

const { createGenerator } = await import('ts-json-schema-generator');
const { default: openapiTypes, astToString } = await import('openapi-typescript');

const shapes = declaredShapes(await sources('libs/contracts/src'));
const schemas = typeSchemas();
const lists = await serviceLists();
const pages = {
  ...versionPage,
  ...lists,
  ...useCaseLists(OPERATIONS),
  'docs/reference/changelog.md': changelogPage(),
  'docs/reference/operations.md': operationsPage(),
  'docs/reference/configuration.md': configurationPage(),
  'docs/reference/metrics.md': metricsPage(),
  'docs/reference/events.md': await eventsPage(),
  'deploy/nats/users.conf': await natsUsers('attestry'),
  'deploy/helm/attestry/files/secret-settings.json': secretSettings(),
  'deploy/helm/attestry/files/migration-settings.json': JSON.stringify([...MIGRATION_VARIABLES].sort()),
  'libs/service-kit/src/engines/state-versions.generated.ts': stateVersions(),
  ...(await interfaceFiles()),
};

const faults = [];
const written = [];
for (const { name, service, useCase } of OPERATIONS) {
  const file = fileOf({ service, useCase });
  if (!existsSync(join(root, file))) faults.push(`${name} is not implemented: ${file} does not exist`);
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
    .filter((it) => it.isFile() && /\.ts$/.test(it.name) && !/\.(spec|d|contract)\.ts$/.test(it.name))
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

/** The members of a shape, its base's first. */
function membersOf(name) {
  const shape = shapes.get(name);
  if (!shape?.members) throw new Error(`no class ${name} in libs/contracts`);
  const own = new Set(shape.members.map((member) => member.name));
  const inherited = shape.base ? membersOf(shape.base).filter((member) => !own.has(member.name)) : [];
  return [...inherited, ...shape.members];
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

function fileOf({ service, useCase }) {
  return `apps/${service}/src/${useCase}/${useCase}.ts`;
}

// ---- operations.md --------------------------------------------------------------------------------------------------

function operationsPage() {
  const groups = Map.groupBy(OPERATIONS, (operation) => operation.service);
  const linked = new Set();
  const sections = [...groups].map(
    ([service, operations]) =>
      `## ${service}\n\n${operations.map((operation) => operationSection(operation, linked)).join('\n')}`,
  );
  const index = OPERATIONS.map((operation) => {
    const { name, http, summary } = operation;
    const endpoint = http ? `\`${http.method} ${http.path}\`` : 'internal';
    return `| [${name}](#${slug(name)}) | ${endpoint} | ${cell(summary)} |`;
  });
  return `<!-- Generated by npm run docs from libs/contracts. Do not edit. -->

# Operations

Every operation of the platform, as declared in \`libs/contracts/src\`. Path, access, shapes and event names are declared only
there; routes, access checks and this page are derived from the declaration. The operation \`<service>.<use case>\` is implemented in
\`apps/<service>/src/<use-case>/<use-case>.ts\`.

## Conventions

- **Hosts.** \`management\`: the management host; \`auth\`: the authorization host; \`tenant\`: the tenant's own host;
  \`custom-domain\`: the tenant's verified custom domain; \`contexts\`: the host of \`CONTEXT_URL\`. Any other host returns 404.
- **Access.** \`public\`: no credentials. \`management\`: an access token of a management client or a user, which
  must be a member of the tenant where roles are listed. \`holder\`: a code or token
  of a wallet, checked by the service. \`permission\`: an access token of a tenant client with one of the roles listed. \`internal\`: only the
  services listed, over the message bus; not available over HTTP.
- **Errors.** \`tenant\`: \`{code, message, details?}\`. \`management\`:
  \`{code, type, message, details}\`. \`oauth\`: \`{error, error_description}\`. See the [specification notes](specification-notes.md#errors).
- **Every operation** can also return 405 (with \`Allow\`), 408, 413 (body over 1 MiB, or over the maximum of the operation), 415, 429, 500 and 503. Every response has
  \`x-request-id\` and the three \`x-ratelimit-*\` headers.
- **Rate classes** are explained in the [specification notes](specification-notes.md#limits) and set in [configuration](configuration.md).
- **Analytics.** Each call is recorded as an event \`<prefix>_START\` and one event \`<prefix>_SUCCESS\` or \`<prefix>_FAIL\`.
- **Unknown members** of a body, and unknown query parameters of a list, are a 400 with access \`management\` or \`permission\`, unless the request
  has \`Prefer: handling=lenient\`. Read-only members of the resource are ignored. All other operations ignore unknown members ([ADR 0065](../adr/0065-unknown-members-are-refused.md)).
- **Maxima.** Every string, array and map has a maximum size. A larger one is a 400 that names the member ([ADR 0040](../adr/0040-compiled-shapes.md)).
- **Deprecated** operations return \`Deprecation\`, \`Sunset\` and \`Link\` in every response; see [versions](changelog.md).
- **OpenAPI.** The same is in [openapi-management.json](openapi-management.json) and
  [openapi-tenant.json](openapi-tenant.json) (OpenAPI 3.1), served at \`/openapi.json\` of each host, and as a page at \`/docs\`.
- **Lists** return \`{data, nextCursor?}\`; \`nextCursor\` is absent on the last page.

## Index

| operation | endpoint | summary |
|---|---|---|
${index.join('\n')}

${sections.join('\n')}
## Shapes

${shapeSections(linked)}
## Roles and permissions

| role | permissions |
|---|---|
${ROLES.map((role) => `| \`${role}\` | ${PERMISSIONS[role].map((it) => `\`${it}\``).join(', ') || 'none yet'} |`).join('\n')}
`;
}

function operationSection(operation, linked) {
  const { http, name } = operation;
  const lines = [`### ${name}`, '', [`${operation.summary}.`, operation.description].filter(Boolean).join(' '), ''];
  if (http) {
    const paths = [http.path, ...(http.alsoAt ?? [])].map((path) => `\`${http.method} ${path}\``).join(' and ');
    const hosts = (http.hosts ?? ['tenant']).map((it) => `\`${it}\``).join(', ');
    lines.push(`- Endpoint: ${paths} on ${hosts}`);
  }
  lines.push(`- Access: ${accessOf(operation.access)}`);
  if (http) {
    lines.push(`- Rate class: \`${operation.rate}\``);
    const more = (operation.errorStatuses ?? []).join(', ') || 'only the general ones';
    lines.push(`- Success: ${http.success}; errors: ${more}, in the \`${operation.errors}\` shape`);
    if (http.cacheControl) lines.push(`- Cache-Control: \`${http.cacheControl}\``);
  }
  lines.push(`- Kind: ${operation.kind}, subject \`${operation.subject}\``);
  if (operation.analytics) {
    const { prefix, category, recordedBy, tenantFrom } = operation.analytics;
    const when = recordedBy === 'service' ? '; recorded once the session or the registered wallet is known' : '';
    const also = tenantFrom ? '; on success also listed in the events of the tenant' : '';
    lines.push(`- Analytics: \`${prefix}\`, category \`${category}\`${when}${also}`);
  }
  if (operation.deprecated) {
    const { since, sunset, link } = operation.deprecated;
    lines.push(`- **Deprecated** since ${since}${sunset ? `, may be removed from ${sunset} on` : ''}: ${code(link)}`);
  }
  if (http?.maxBodyBytes) lines.push(`- Maximum size of the body: ${http.maxBodyBytes / 1024} KiB`);
  if (operation.secrets)
    lines.push(`- Values omitted from error details: ${operation.secrets.map((it) => `\`${it}\``).join(', ')}`);
  const file = fileOf(operation);
  lines.push(`- File: [${file}](../../${file})`);
  const rows = ['params', 'query', 'body'].flatMap((part) =>
    operation[part] ? requestRows(operation[part], part, linked) : [],
  );
  if (rows.length) {
    lines.push('', '| in | member | type | required | rules | meaning |', '|---|---|---|---|---|---|', ...rows);
  } else if (http?.body === 'raw' && http.method === 'POST') {
    lines.push(
      '',
      'The service parses and checks the request: [specification notes](specification-notes.md#wallet-requests).',
    );
  }
  const { response } = operation;
  if (response) {
    const shape = Array.isArray(response) ? response[0].name : response.name;
    linked.add(shape);
    const link = `[${shape}](#${slug(shape)})`;
    lines.push('', `Response: ${Array.isArray(response) ? `a page of ${link}` : link}`);
  }
  return `${lines.join('\n')}\n`;
}

function accessOf(access) {
  if (access.kind === 'internal') return `\`internal\`: ${access.callers.map((it) => `\`${it}\``).join(', ')}`;
  const { kind, usersOnly, permission, roles, orSelf } = access;
  if (!roles) return `\`${kind}\`${usersOnly ? ', users only' : ''}`;
  const names = roles.map((role) => `\`${role}\``).join(', ');
  if (kind === 'roles') return `permission \`${permission}\`: ${names}`;
  const right = permission ? `, permission \`${permission}\`` : '';
  return `\`management\`, member of the tenant${right}: ${names}${orSelf ? '; users for their own membership with any role' : ''}`;
}

function requestRows(dto, part, linked) {
  const metadata = getMetadataStorage().getTargetValidationMetadatas(dto, '', true, false);
  return membersOf(dto.name).map((member) => {
    const ofMember = metadata.filter(({ propertyName }) => propertyName === member.name);
    const optional = member.optional || ofMember.some(({ type }) => type === 'conditionalValidation');
    const cells = [part, code(member.name), typeCell(member.type, linked), optional ? '' : 'yes'];
    return `| ${[...cells, cell(rulesOf(ofMember, member.type)), cell(member.about)].join(' | ')} |`;
  });
}

function rulesOf(metadata, type) {
  const texts = metadata
    .filter(({ type }) => type === 'customValidation')
    .map((rule) => ruleText(rule, type))
    .filter(Boolean);
  return [...new Set(texts)].sort().join('; ');
}

function ruleText({ name, constraints = [], each, message, constraintCls }, type) {
  const [first, second] = constraints;
  const items = each ? 'each entry: ' : '';
  switch (name) {
    // Already expressed by the type.
    case 'isString':
    case 'isBoolean':
    case 'isArray':
    case 'isRecord':
      return undefined;
    case 'isInt':
      return 'an integer';
    case 'isIn':
      return `${items}one of ${first.map((value) => `\`${value}\``).join(', ')}`;
    case 'min':
      return `at least ${first}`;
    case 'max':
      return `at most ${first}`;
    case 'maxLength':
      return `${items}at most ${first} characters`;
    case 'isLength':
      return `${items}${first === second ? first : `${first} to ${second}`} characters`;
    case 'json':
      if (type === 'string') return `at most ${first.text} characters`;
      return `at most ${first.entries} entries, ${first.depth} levels and ${first.values} values in total; strings of at most ${first.text} characters`;
    case 'arrayMaxSize':
      return `at most ${first} entries`;
    case 'arrayNotEmpty':
      return 'not empty';
    case 'arrayUnique':
      return 'no duplicates';
    case 'isIso8601':
      return 'an ISO 8601 date or time';
    case 'matches':
      return typeof message === 'string' ? ruleOf(message) : `${items}matches \`${first.source}\``;
    default:
      return ruleOf(typeof message === 'string' ? message : ownMessage(constraintCls));
  }
}

/** `must be a UUID` as a rule: `a UUID`. Without text for messages that depend on the value. */
function ruleOf(message) {
  return message === NO_MESSAGE ? undefined : message.replace(/^must (?:be|have) /, '');
}

/** Message of a custom rule (libs/contracts/src/validators.ts). */
function ownMessage(constraintCls) {
  const [{ instance }] = getMetadataStorage().getTargetValidatorConstraints(constraintCls);
  return instance.defaultMessage({ value: undefined, object: {} });
}

/** A type in a table, with links to the shapes it names. Texts that a type computes are those of its schema. */
function typeCell(type, linked, schema) {
  const alias = shapes.get(type)?.alias ?? type;
  const texts = alias.includes('typeof ') && (schemas[type] ?? schema)?.enum?.map((it) => `'${it}'`).join(' | ');
  const text = texts || (alias.startsWith("'") || alias.includes("' | '") ? alias : type);
  const namesIn = (words) => [...words.matchAll(/\b[A-Z]\w+/g)].map(([name]) => name);
  const named = namesIn(text).flatMap((name) => [name, ...namesIn(shapes.get(name)?.alias ?? '')]);
  const names = named.filter((name) => shapes.get(name)?.members);
  for (const name of names) linked.add(name);
  const shown = code(text.replaceAll('|', '\\|'));
  if (names[0] === text) return `[${shown}](#${slug(text)})`;
  return names.length ? `${shown} ${names.map((name) => `([${name}](#${slug(name)}))`).join(' ')}` : shown;
}

function shapeSections(linked) {
  const done = new Map();
  // Sections name further shapes; each is written once.
  for (let todo = [...linked]; todo.length; todo = [...linked].filter((name) => !done.has(name))) {
    for (const name of todo) if (!done.has(name)) done.set(name, shapeSection(name, linked));
  }
  return [...done]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([, text]) => text)
    .join('\n');
}

function shapeSection(name, linked) {
  const { about } = shapes.get(name);
  const rows = membersOf(name).map(
    (member) =>
      `| ${code(member.name)} | ${typeCell(member.type, linked, schemas[name]?.properties?.[member.name])} | ${member.optional ? '' : 'yes'} | ${cell(member.about)} |`,
  );
  const head = ['| member | type | always present | meaning |', '|---|---|---|---|'];
  return `### ${name}\n\n${about ? `${about}\n\n` : ''}${[...head, ...rows].join('\n')}\n`;
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

/** Text of the module with the version of the interface definitions: that of the newest section of the changelog. */
function interfaceVersion() {
  const [, version] = /^## (v\d+\.\d+\.\d+)$/m.exec(read('docs/reference/changelog.md')) ?? [];
  if (!version) throw new Error('docs/reference/changelog.md has no section of a version, ## vMAJOR.MINOR.PATCH');
  return `// Generated by npm run docs from docs/reference/changelog.md. Do not edit.
/** \`vMAJOR.MINOR.PATCH\` of both interface definitions. */
export const INTERFACE_VERSION = '${version}';
`;
}

/** The OpenAPI documents, the shapes they need beside the registry, and the types of a client of each. */
async function interfaceFiles() {
  const files = {
    'libs/contracts/src/openapi/shapes.generated.ts': `// Generated by npm run docs from the classes of libs/contracts. Do not edit.
import type { JsonSchema } from './json-schema.js';

/** JSON Schemas of the classes that operations refer to: their TypeScript types do not exist at run time. */
export const SHAPES: Readonly<Record<string, JsonSchema>> = ${JSON.stringify(schemas)};
`,
  };
  for (const name of ['management', 'tenant']) {
    const document = openApiDocument(name, OPERATIONS, schemas);
    files[`docs/reference/openapi-${name}.json`] = JSON.stringify(document);
    const types = astToString(await openapiTypes(structuredClone(document), { alphabetize: true }));
    files[`libs/testing/src/interface/${name}.generated.ts`] =
      `// Generated by npm run docs from docs/reference/openapi-${name}.json with openapi-typescript. Do not edit.\n${types}`;
  }
  return files;
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
  return `<!-- Generated by npm run docs from libs/service-kit/src/config.ts. Do not edit. -->

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
stable shape, are published from a subscription to the event store, and have the id of the domain event.

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

function code(text) {
  return `\`${text}\``;
}

function cell(text) {
  return text.replaceAll('|', '\\|');
}
