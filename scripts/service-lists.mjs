// Lists of the services in files of other formats, from libs/contracts/src/services.ts. A list is between a line that contains
// `services: <name of the list>` and the next one that contains `end of services`; `npm run docs` replaces what is between them.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { root } from './setup.mjs';
import { WINGS } from './wings.mjs';

const BEGIN = /\bservices: ([a-z-]+)\b.*$/;
const END = /\bend of services\b/;

const variableOf = (name) => `NATS_PASSWORD_${name.toUpperCase().replaceAll('-', '_')}`;
const secretOf = (name) => `\${${variableOf(name)}:?run node deploy/compose/make-env.mjs}`;
const camelCase = (name) => name.replace(/-(.)/g, (_, letter) => letter.toUpperCase());

const ENGINES = {
  eventStore: 'event store',
  database: 'PostgreSQL',
  redis: 'Redis',
};

const wingsOf = (service) => [
  '',
  '| wing | what it holds |',
  '|---|---|',
  ...Object.entries(WINGS[service]).map(([name, about]) => `| \`${name}\` | ${about} |`),
  '',
];

/** Content between the lines, by the name of the list; `all` includes the gateway. */
const LISTS = {
  chart: (services, all) =>
    all.map(([name, { calls, engines }]) => {
      const facts = [
        ...(name === 'gateway' ? ['public: true'] : []),
        ...(calls ? [`calls: [${calls}]`] : []),
        `engines: [${engines.join(', ')}]`,
      ];
      return `${name}: { ${facts.join(', ')} }`;
    }),
  // The gateway, which publishes a port, is written by hand. Compose configures no mail server.
  compose: (services) =>
    services.flatMap(([name, { calls }], index) => [
      ...(index === 0 ? [] : ['']),
      `  ${name}:`,
      '    <<: *service',
      '    environment:',
      '      <<: *environment',
      `      SERVICE: ${name}`,
      `      NATS_USER: ${name}`,
      `      NATS_PASSWORD: ${secretOf(name)}`,
      `    networks: [engines${calls && calls !== 'smtp' ? ', outside' : ''}]`,
    ]),
  healthy: (services, all) => all.map(([name]) => `      ${name}: { condition: service_healthy }`),
  'nats-environment': (services, all) => all.map(([name]) => `      ${variableOf(name)}: ${secretOf(name)}`),
  passwords: (services, all) => all.map(([name]) => `${variableOf(name)}=`),
  users: (services, all) => [
    '',
    '| process | `SERVICE` | `NATS_USER` | `NATS_PASSWORD` |',
    '|---|---|---|---|',
    ...all.map(([name]) => `| ${name} | \`${name}\` | \`${name}\` | \`$${variableOf(name)}\` |`),
    `| \`npm run migrate\` | | \`migrate\` | \`$${variableOf('migrate')}\` |`,
    `| \`npm run management-client\` | | \`management\` | \`$${variableOf('management')}\` |`,
    '',
  ],
  processes: (services, all) => [
    '',
    '| service | requires | reached by | outbound connections |',
    '|---|---|---|---|',
    ...all.map(([name, { engines, outbound }]) => {
      const needs = Object.entries(ENGINES).flatMap(([engine, shown]) => (engines.includes(engine) ? [shown] : []));
      const reached = name === 'gateway' ? 'ingress (8080), monitoring (9090)' : 'monitoring (8080)';
      return `| \`${name}\` | ${['NATS', ...needs].join(', ')} | ${reached} | ${outbound ?? 'none'} |`;
    }),
    '| `migrate` | NATS, event store, PostgreSQL as owner of the schema | not reachable; runs before each upgrade | none |',
    '',
  ],
  secrets: (services, all) => [
    '',
    '```sh',
    "random() { openssl rand -base64 32 | tr '+/' '-_' | tr -d '='; }",
    'kubectl create namespace attestry',
    'kubectl --namespace attestry create secret generic attestry \\',
    '  --from-literal=MASTER_KEY="$(random)" \\',
    '  --from-literal=MANAGEMENT_CLIENT_ID=first --from-literal=MANAGEMENT_CLIENT_SECRET="$(random)" \\',
    "  --from-literal=DATABASE_URL='postgres://attestry:…@postgres.example:5432/attestry?sslmode=verify-full' \\",
    "  --from-literal=REDIS_URL='rediss://:…@valkey.example:6379' \\",
    "  --from-literal=SMTP_URL='smtps://attestry:…@mail.example' \\",
    ...all.map(([name], index) => `  --from-literal=${variableOf(name)}=…${index === all.length - 1 ? '' : ' \\'}`),
    'kubectl --namespace attestry create secret generic attestry-migrate \\',
    "  --from-literal=MIGRATION_DATABASE_URL='postgres://attestry_owner:…@postgres.example:5432/attestry?sslmode=verify-full' \\",
    '  --from-literal=NATS_PASSWORD_MIGRATE=…',
    '```',
    '',
  ],
  overview: (services) => [`    services["${services.map(([name]) => name).join(', ')}"]`],
  'wings-of-issuance': () => wingsOf('issuance'),
  'wings-of-management': () => wingsOf('management'),
  folders: (services, all) => [
    '',
    '| folder | responsibility |',
    '|---|---|',
    ...all.map(([name, { about }]) => `| \`apps/${name}\` | ${about} |`),
    '',
  ],
};

const FILES = [
  'docs/architecture.md',
  'docs/guides/nats.md',
  'docs/guides/deploy.md',
  'deploy/helm/attestry/templates/_services.tpl',
  'deploy/compose/.env.example',
  'docker-compose.yml',
];

/** The files with lists, in their current form, and the imports of the platform. @returns {Promise<Record<string, string>>} */
export async function serviceLists() {
  const { SERVICES, PARTICIPANTS } = await import(
    pathToFileURL(join(root, 'libs', 'contracts', 'dist', 'index.js')).href
  );
  const [services, all] = [Object.entries(SERVICES), Object.entries(PARTICIPANTS)];
  const files = FILES.map((path) => [path, replaceLists(path, (list) => list(services, all))]);
  return { ...Object.fromEntries(files), 'apps/platform/src/service-loaders.generated.ts': loaders(services) };
}

function replaceLists(path, linesOf) {
  const text = [];
  let isInside = false;
  for (const line of readFileSync(join(root, path), 'utf8').split('\n')) {
    const name = isInside ? undefined : BEGIN.exec(line)?.[1];
    if (END.test(line)) isInside = false;
    if (!isInside) text.push(line);
    if (name in LISTS) {
      isInside = true;
      text.push(...linesOf(LISTS[name]));
    }
  }
  if (isInside) throw new Error(`${path}: a list of services has no line "end of services"`);
  return text.join('\n');
}

function loaders(services) {
  const lines = services.map(
    ([name]) => `  '${name}': async () => (await import('@attestry/${name}')).${camelCase(name)}Service,`,
  );
  return `// Generated by npm run docs from libs/contracts/src/services.ts. Do not edit.
import type { ServiceName } from '@attestry/contracts';
import type { ServiceDefinition } from '@attestry/service-kit';

/** The services behind the gateway, loaded where they run: a process of one starts without the code of the others. */
export const LOADERS: Readonly<Record<ServiceName, () => Promise<ServiceDefinition>>> = {
${lines.join('\n')}
};
`;
}
