import { execFileSync, spawnSync } from 'node:child_process';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const script = join(dirname(fileURLToPath(import.meta.url)), '../../../scripts/structure.mjs');

describe('the check of the structure', () => {
  let folder: string;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'structure-'));
    execFileSync('git', ['init', '--quiet', folder]);
  });
  afterEach(() => rm(folder, { recursive: true, force: true }));

  const check = async (files: Readonly<Record<string, string>>, packages: object = {}) => {
    for (const [path, text] of Object.entries({ ...files, 'package-lock.json': JSON.stringify({ packages }) })) {
      await mkdir(dirname(join(folder, path)), { recursive: true });
      await writeFile(join(folder, path), text);
    }
    const { status, stderr } = spawnSync(process.execPath, [script, folder], { encoding: 'utf8' });
    return { status, faults: stderr.split('\n').filter(Boolean).sort() };
  };

  it('refuses circular imports, also of types and of modules loaded at run time', async () => {
    const a = 'apps/dids/src/did';
    const l = 'libs/keys/src';
    expect(
      await check({
        [`${a}/a.ts`]: "import { b } from './b.js';\nexport const a = b;\n",
        [`${a}/b.ts`]: "export { c as b } from '../list/c.js';\n",
        'apps/dids/src/list/c.ts': "import type { A } from '../did/a.js';\nexport const c: A = 1;\n",
        'apps/dids/src/list/outside.ts': "export * from '../did/a.js';\n",
        [`${l}/x.ts`]: "export const x = () => import('./y.js');\n",
        [`${l}/y.ts`]: "export type { X } from './x.js';\n",
      }),
    ).toEqual({
      status: 1,
      faults: [
        `${a}/a.ts → ${a}/b.ts → apps/dids/src/list/c.ts → ${a}/a.ts: a circle of imports`,
        `${l}/x.ts → ${l}/y.ts → ${l}/x.ts: a circle of imports`,
      ],
    });
  });

  it('refuses files of a service that have no folder', async () => {
    const place = (service: string, file: string) => ({ [`apps/${service}/src/${file}`]: '' });
    const { faults } = await check({ ...place('dids', 'did-view.ts'), ...place('platform', 'main.ts') });
    expect(faults).toEqual([
      'apps/dids/src/did-view.ts: belongs in the folder of a noun, a use case or a follower (architecture, Folders)',
    ]);
  });

  it('refuses imports from a wing above, from the top of the service, and wings that the list does not name', async () => {
    const src = 'apps/issuance/src';
    const { faults } = await check({
      [`${src}/formats/format.ts`]: "import type { A } from '../token/exchange-token/a.js';\nexport type B = A;\n",
      [`${src}/formats/cwt/cwt.ts`]: "export const load = () => import('../../index.js');\n",
      [`${src}/formats/formats.spec.ts`]: "import '../token/exchange-token/a.js';\nimport '../index.js';\n",
      [`${src}/token/exchange-token/a.ts`]: "export type A = 1;\nimport '../../sessions/code.js';\n",
      [`${src}/sessions/code.ts`]: "import '../reading/b.js';\nimport './session.js';\n",
      [`${src}/sessions/session.ts`]: '',
      [`${src}/reading/b.ts`]: '',
      [`${src}/index.ts`]: "import './token/exchange-token/a.js';\n",
      [`${src}/protocol/c.ts`]: '',
      'apps/dids/src/token/d.ts': "import '../did/e.js';\n",
      'apps/dids/src/did/e.ts': '',
    });
    expect(faults).toEqual([
      `${src}/formats/cwt/cwt.ts: imports ${src}/index.ts, from above the wing 'formats' (architecture, Folders)`,
      `${src}/formats/format.ts: imports ${src}/token/exchange-token/a.ts, from above the wing 'formats' (architecture, Folders)`,
      `${src}/protocol: scripts/wings.mjs does not name this wing`,
    ]);
  });

  it('refuses folders with more than 25 folders, or more than 25 files besides specs', async () => {
    const many = (count: number, path: (index: number) => string) =>
      Object.fromEntries(Array.from({ length: count }, (_, index) => [path(index), '']));
    const { faults } = await check({
      ...many(26, (index) => `apps/dids/src/did/a${index}.ts`),
      ...many(26, (index) => `libs/keys/src/a${index}/b.ts`),
      ...many(25, (index) => `libs/sqlite/src/a${index}.ts`),
      ...many(5, (index) => `libs/sqlite/src/a${index}.spec.ts`),
      ...many(25, (index) => `libs/cose/src/a${index}/b/c.ts`),
      ...many(26, (index) => `apps/gateway/src/pipeline/a${index}.ts`),
      ...many(26, (index) => `libs/testing/src/a${index}.ts`),
      ...many(26, (index) => `apps/e2e/src/faults/a${index}.ts`),
    });
    expect(faults).toEqual([
      'apps/dids/src/did: 26 files besides specs, at most 25',
      'libs/keys/src: 26 folders, at most 25',
    ]);
  });

  it('refuses barrels, generic names, and packages bound to a host', async () => {
    const files = { 'apps/dids/src/did/index.ts': '', 'libs/keys/src/text-utils.ts': '' };
    const packages = { 'node_modules/a': { resolved: 'https://registry.example/a.tgz' }, 'node_modules/b': {} };
    expect((await check(files, packages)).faults.map((fault) => fault.split(':', 1)[0])).toEqual([
      'apps/dids/src/did/index.ts',
      'libs/keys/src/text-utils.ts',
      'package-lock.json',
    ]);
  });

  it('refuses wide lines of pages, and a long README', async () => {
    const wide = 'é'.repeat(161);
    const files = {
      'README.md': `${'a\n'.repeat(120)}b\n`,
      'docs/guides/a.md': `a\n\n- ${'é'.repeat(158)}\n- ${'é'.repeat(159)}\n\n| ${wide} |\n`,
      'docs/reference/conformance.md': `| ${wide} |\n\n${wide}\n`,
      'docs/reference/events.md': `<!-- Generated by npm run docs. -->\n\n${wide}\n`,
    };
    expect((await check(files)).faults).toEqual([
      'README.md: 121 lines; at most 120. Details belong in docs/',
      'docs/guides/a.md:4: 161 characters; at most 160. A wide table reads better as a list',
      'docs/guides/a.md:6: 165 characters; at most 160. A wide table reads better as a list',
      'docs/reference/conformance.md:3: 161 characters; at most 160. A wide table reads better as a list',
    ]);
  });

  it('accepts files that follow the rules', async () => {
    const files = {
      'apps/dids/src/index.ts': "export { Module } from './dids.module.js';\n",
      'apps/dids/src/dids.module.ts': "import { a } from './did/a.js';\nexport class Module {\n  a = a;\n}\n",
      'apps/dids/src/dids.reactions.ts': "import './did/a.js';\n",
      'apps/dids/src/use-cases.generated.ts': "import './did/a.js';\n",
      'apps/dids/src/idempotency.int.spec.ts': "import './index.js';\n",
      'apps/dids/src/did/a.ts': "// import './b.js';\nexport const a = 'from ./b.js';\n",
      'apps/dids/src/did/b.ts': "import './a.js';\n",
    };
    expect(await check(files)).toEqual({ status: 0, faults: [] });
  });
});
