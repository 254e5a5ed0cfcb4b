import { execFileSync } from 'node:child_process';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

interface Snippet {
  readonly filePath: string;
  readonly text: string;
}
interface Message {
  readonly rule: string | null;
  readonly message: string;
}

const repository = join(dirname(fileURLToPath(import.meta.url)), '../../..');

function lint(snippets: readonly Snippet[]): readonly (readonly Message[])[] {
  const output = execFileSync(process.execPath, [join(repository, 'scripts/lint-text.mjs')], {
    cwd: repository,
    input: JSON.stringify(snippets),
    encoding: 'utf8',
    timeout: 120_000,
  });
  return JSON.parse(output) as Message[][];
}

const boundaries = '@nx/enforce-module-boundaries';
const imports = '@typescript-eslint/no-restricted-imports';
const apart = 'attestry/use-cases-apart';
const formats = 'attestry/formats-apart';
const few = 'attestry/few-collaborators';
const subject = 'attestry/comment-subject';
const service = 'apps/dids/src/create-did/example-handler.ts';
const decisions = 'apps/dids/src/did/example.decisions.ts';
const events = 'apps/dids/src/did/example.events.ts';
const state = 'apps/dids/src/did/example.state.ts';
const claim = 'apps/dids/src/did/example.claim.ts';
const errors = 'apps/dids/src/did/example.errors.ts';

const classOf = (count: number, kept = 'private readonly ') => {
  const parameters = Array.from({ length: count }, (_, index) => `${kept}a${index}: string`);
  return `export class A {\n  constructor(${parameters.join(', ')}) {}\n  a(): void {}\n}`;
};
const bundleOf = (decorator?: string) =>
  `import { Injectable } from '@nestjs/common';\n${decorator ? `@${decorator}` : 'void Injectable;'}
export class A {\n  constructor(readonly a: string, readonly b: string) {}\n}`;

const broken: readonly [name: string, rule: string, filePath: string, text: string][] = [
  ['a service imports another', boundaries, service, `export { a } from '@attestry/issuance';`],
  ['a service imports the platform', boundaries, service, `export { a } from '@attestry/platform';`],
  ['a service reaches another by path', boundaries, service, `export { a } from '../../../issuance/src/main.js';`],
  ['a service loads another at run time', boundaries, service, `export const a = import('@attestry/issuance');`],
  ['the gateway imports a service', boundaries, 'apps/gateway/src/x.ts', `export { a } from '@attestry/dids';`],
  ['black-box tests import a service', boundaries, 'apps/e2e/src/x.e2e.spec.ts', `import '@attestry/dids';`],
  ['black-box tests import the store', boundaries, 'apps/e2e/src/x.e2e.spec.ts', `import '@attestry/event-store';`],
  ['a library imports a service', boundaries, 'libs/service-kit/src/x.ts', `export { a } from '@attestry/dids';`],
  ['contracts import a library', boundaries, 'libs/contracts/src/x.ts', `export { a } from '@attestry/event-store';`],
  ['the store imports contracts', boundaries, 'libs/event-store/src/x.ts', `export { a } from '@attestry/contracts';`],
  ['a library ships the test kit', boundaries, 'libs/event-store/src/x.ts', `export { a } from '@attestry/testing';`],
  ['an import by path leaves its package', 'attestry/stay-in-package', service, `import '../../../../scripts/x.js';`],
  ['a use case imports another', apart, service, `export { a } from '../delete-did/delete-did.js';`],
  [
    'a use case imports a type of another',
    apart,
    service,
    `import type { A } from '../list-dids/x.js';\nexport type B = A;`,
  ],
  ['a use case loads another at run time', apart, service, `export const a = import('../delete-did/delete-did.js');`],
  ['a noun imports a use case', apart, 'apps/dids/src/did/x.ts', `export { a } from '../create-did/check-options.js';`],
  [
    'reactions import a use case',
    apart,
    'apps/dids/src/x.reactions.ts',
    `export { a } from './delete-did/delete-did.js';`,
  ],
  ['an import goes past src/index.ts', imports, service, `export { a } from '@attestry/keys/src/secrets.js';`],
  ['an import goes into dist', imports, service, `export { a } from '@attestry/keys/dist/secrets.js';`],
  ['EventBus', imports, service, `export { EventBus } from '@nestjs/cqrs';`],
  ['Saga', imports, service, `export { Saga } from '@nestjs/cqrs';`],
  ['AggregateRoot', imports, service, `export { AggregateRoot } from '@nestjs/cqrs';`],
  ['EventPublisher', imports, service, `export { EventPublisher } from '@nestjs/cqrs';`],
  ['all of cqrs', imports, service, `import * as cqrs from '@nestjs/cqrs';\nexport const a = cqrs;`],
  ['contracts import Nest', imports, 'libs/contracts/src/x.ts', `export { Injectable } from '@nestjs/common';`],
  ['contracts import I/O', imports, 'libs/contracts/src/x.ts', `export { readFile } from 'node:fs';`],
  ['decisions import crypto', imports, decisions, `export { randomUUID } from 'node:crypto';`],
  ['decisions import crypto, old name', imports, decisions, `export { randomUUID } from 'crypto';`],
  ['state imports I/O', imports, state, `export { readFile } from 'node:fs/promises';`],
  ['a name claim imports I/O', imports, claim, `export { readFile } from 'node:fs/promises';`],
  ['errors import Nest', imports, errors, `export { NotFoundException } from '@nestjs/common';`],
  ['events import a clock', imports, events, `export { clock } from '../clock.js';`],
  ['decisions import a library with I/O', imports, decisions, `export { a } from '@attestry/keys';`],
  ['decisions read the clock', 'no-restricted-properties', decisions, `export const a = () => Date.now();`],
  ['decisions make a date of now', 'no-restricted-syntax', decisions, `export const a = () => new Date();`],
  ['decisions print now', 'no-restricted-syntax', decisions, `export const a = () => Date();`],
  ['decisions roll dice', 'no-restricted-properties', decisions, `export const a = () => Math.random();`],
  ['decisions use crypto', 'no-restricted-globals', decisions, `export const a = () => crypto.randomUUID();`],
  ['decisions load a module', 'no-restricted-syntax', decisions, `export const a = () => import('./x.js');`],
  ['a swallowed error', 'no-empty', service, `export function a(): void {\n  try {\n    a();\n  } catch {}\n}`],
  ['a swallowed rejection', 'no-restricted-syntax', service, `export const a = b.catch(() => undefined);`],
  ['a service opens an engine', imports, service, `export { openPostgresEvents } from '@attestry/event-store';`],
  ['a service names an adapter', imports, service, `export { EmbeddedEventStore } from '@attestry/event-store';`],
  ['a service uses a client', imports, service, `export { Pool } from 'pg';`],
  ['a service uses SQLite', imports, service, `export { DatabaseSync } from 'node:sqlite';`],
  ['decisions name an engine', imports, decisions, `export { openNatsBus } from '@attestry/messaging';`],
  [
    'a projection asks where it runs',
    'no-restricted-syntax',
    'apps/dids/src/did-lists/x.projection.ts',
    `export const a = (config: { databaseUrl?: string }) => config.databaseUrl;`,
  ],
  [
    'a use case compares a format',
    formats,
    service,
    `export const a = (it: { format: string }) => it.format === 'ldp_vc';`,
  ],
  [
    'a use case branches by profile',
    formats,
    service,
    `export function a(it: string): number {\n  switch (it) {\n    case 'jwt-vc':\n      return 1;\n    default:\n      return 2;\n  }\n}`,
  ],
  ['a table by format', formats, service, `export const a = { ldp_vc: 1, jwt_vc_json: 2 };`],
  ['a use case picks one format', formats, service, `export const a = (b: { ldp_vc: number }) => b.ldp_vc;`],
  ['a list of formats', formats, service, `export const a = (it: string) => [\`jwt_vc_json\`].includes(it);`],
  ['a type that names a format', formats, 'libs/contracts/src/x.ts', `export type A = 'ldp_vc';`],
  [
    'decisions compare a format',
    formats,
    'apps/issuance/src/settings/credential-configuration/x.decisions.ts',
    `export const a = (format: string) => format !== 'ldp_vc';`,
  ],
  [
    'a use case imports the module of a format',
    formats,
    'apps/issuance/src/credential/issue-credential/x.ts',
    `import '../../formats/ldp-vc/ldp-vc.js';`,
  ],
  [
    'a use case passes on the module of a format',
    formats,
    'apps/issuance/src/credential/issue-credential/x.ts',
    `export { LdpVc } from '../../formats/ldp-vc/ldp-vc.js';`,
  ],
  [
    'a format imports the module of another',
    formats,
    'apps/issuance/src/formats/jwt-vc-json/x.ts',
    `import '../ldp-vc/ldp-vc.js';`,
  ],
  [
    'a use case imports the request of a format',
    formats,
    service,
    `import { WebSemanticConfigurationRequest } from '@attestry/contracts';\nexport const a = WebSemanticConfigurationRequest;`,
  ],
  ['a class with nine collaborators', few, service, classOf(9)],
  ['a class with nine parameters that are no collaborators', few, 'libs/keys/src/x.ts', classOf(9, '')],
  ['a provider that only bundles', few, service, bundleOf('Injectable()')],
  ['a docstring without a subject', subject, service, `/** Of a DID. */\nexport const a = 1;`],
  ['a docstring of several lines', subject, service, `/**\n * What a DID has.\n * More.\n */\nexport const a = 1;`],
  ['a member', subject, service, `export interface A {\n  /** Also sent. */\n  a: number;\n}`],
  ['a line', subject, service, `// As browsers do.\nexport const a = 1;`],
  ['a line in lower case', subject, service, `// which is sent\nexport const a = 1;`],
  ['a comment behind code', subject, service, `export const a = 1; // of a DID`],
  ['a line below a comment behind code', subject, service, `export const a = 1; // DIDs\n// Those of a tenant.`],
  ['a line below a directive', subject, service, `// @engines PostgreSQL\n// That of a DID.\nexport const a = 1;`],
  ['a line below an empty line', subject, service, `// DIDs.\n\n// Whose key it is.\nexport const a = 1;`],
  ['a script', subject, 'scripts/x.mjs', `// So that it ends.\nexport const a = 1;`],
  ['a loose comparison', 'eqeqeq', service, `export const a = (b: number) => b == 1;`],
  ['a promise nobody waits for', '@typescript-eslint/no-floating-promises', 'libs/sqlite/src/index.ts', `fetch('x');`],
];

const sound: readonly [name: string, filePath: string, text: string][] = [
  ['a service imports contracts', service, `export { a } from '@attestry/contracts';`],
  [
    'a use case imports its own files and a noun',
    service,
    `import './check-options.js';\nimport '../did/did-view.js';`,
  ],
  ['a module imports use cases', 'apps/dids/src/x.module.ts', `export { a } from './create-did/create-did.js';`],
  [
    'the generated list imports use cases',
    'apps/dids/src/use-cases.generated.ts',
    `export { a } from './create-did/create-did.js';`,
  ],
  ['the platform imports services', 'apps/platform/src/x.ts', `export { a } from '@attestry/dids';`],
  ['black-box tests import contracts', 'apps/e2e/src/x.e2e.spec.ts', `export { a } from '@attestry/contracts';`],
  ["a library's specs use the test kit", 'libs/event-store/src/x.spec.ts', `export { a } from '@attestry/testing';`],
  ['a service uses the ports', service, `export { EventStore, Streams } from '@attestry/event-store';`],
  [
    'the service kit uses the buses',
    'libs/service-kit/src/x.ts',
    `export { CommandBus, CommandHandler, QueryBus } from '@nestjs/cqrs';`,
  ],
  ['decisions import events and errors', decisions, `export { a } from './did.events.js';`],
  ['decisions import contracts', decisions, `export { AppError } from '@attestry/contracts';`],
  ['decisions name a type of keys', decisions, `export type { A } from '@attestry/keys';`],
  ['decisions format a given time', decisions, `export const a = (ms: number) => new Date(ms).toISOString();`],
  ['a use case compares formats', service, `export const a = (b: { format: string }, c: string) => b.format === c;`],
  [
    'the module of a format names it and uses what formats share',
    'apps/issuance/src/formats/ldp-vc/x.ts',
    `import '../format.js';\nimport './ldp-vc.js';\nexport const a = 'ldp_vc';`,
  ],
  [
    'a use case finds the module of a format',
    'apps/issuance/src/credential/issue-credential/x.ts',
    `import '../../formats/formats.js';`,
  ],
  ['a class with eight collaborators', service, classOf(8)],
  ['a class of values', service, bundleOf()],
  ['the dependencies of the steps of the gateway', 'apps/gateway/src/pipeline/dependencies.ts', classOf(9)],
  ['a harness of tests', 'libs/testing/src/x.ts', classOf(9)],
  ['a comment begins with its subject', service, `/** State of a DID. */\nexport const a = 1; // Office of a DID`],
  [
    'a comment goes on in the next line',
    service,
    `// The key of a DID.\n// Of several the first.\nexport const a = 1;`,
  ],
  ['a comment begins with a name', service, `/** \`of\` a DID. */\nexport const a = 1; // @engines`],
  ['handlers read the clock', service, `export const a = () => Date.now();`],
];

describe('the lint rules of the architecture', () => {
  let found: readonly (readonly Message[])[];

  beforeAll(() => {
    found = lint([
      ...broken.map(([, , filePath, text]) => ({ filePath, text: `${text}\n` })),
      ...sound.map(([, filePath, text]) => ({ filePath, text: `${text}\n` })),
    ]);
  }, 120_000);

  it.each(broken.map(([name, rule], index) => [name, rule, index] as const))('refuse: %s', (_name, rule, index) => {
    expect(found[index]?.map((it) => it.rule)).toContain(rule);
  });

  it.each(sound.map(([name], index) => [name, broken.length + index] as const))('allow: %s', (_name, index) => {
    expect(found[index]).toEqual([]);
  });
});
