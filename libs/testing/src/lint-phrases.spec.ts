import { spawnSync } from 'node:child_process';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const script = join(dirname(fileURLToPath(import.meta.url)), '../../../scripts/lint-phrases.mjs');

describe('the check of public texts', () => {
  let folder: string;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'lint-phrases-'));
  });
  afterEach(() => rm(folder, { recursive: true, force: true }));

  const lint = async (files: Readonly<Record<string, string>>) => {
    for (const [path, text] of Object.entries(files)) {
      await mkdir(dirname(join(folder, path)), { recursive: true });
      await writeFile(join(folder, path), text);
    }
    const { status, stderr } = spawnSync(process.execPath, [script, folder], { encoding: 'utf8' });
    return { status, faults: stderr.split('\n').filter(Boolean).sort() };
  };

  it('names file, line and phrase, also where a line break separates the words', async () => {
    expect(
      await lint({
        'README.md': 'One.\n\nA wallet of\nothers collects it, Anew.\n',
        'docs/guides/a/b.md': 'It is told.',
        'libs/contracts/src/openapi/tenant.json': '{\n"description": "The key is good for a day."}',
        'deploy/helm/README.md': 'So far, nothing.',
        'apps/dids/src/a.ts': 'export const a = (n: number) =>\n  `${n} keys\nof others`;\n',
        'scripts/a.mjs': "console.log('nobody signed in');\n",
        'libs/contracts/src/a.ts': '/**\n * A credential of\n * others.\n */\nexport class A {}\n',
      }),
    ).toEqual({
      status: 1,
      faults: [
        'README.md:3: "of others"',
        'README.md:4: "Anew"',
        'apps/dids/src/a.ts:3: "of others"',
        'deploy/helm/README.md:1: "So far"',
        'docs/guides/a/b.md:1: "is told"',
        'libs/contracts/src/a.ts:2: "of others"',
        'libs/contracts/src/openapi/tenant.json:2: "is good for"',
        'scripts/a.mjs:1: "nobody"',
      ],
    });
  });

  it('ignores comments, identifiers, longer words and texts that are not public', async () => {
    expect(
      await lint({
        'README.md': 'The janewick of otherside, re-anew; see `#attestrynobodyanswers`.',
        'docs/adr/0001.md': 'nobody',
        'apps/dids/src/a.ts': "// nobody\n/** anew */\nexport const nobody = 'nobody';\n",
        'apps/dids/src/a.spec.ts': "it('is told anew', () => undefined);",
        'apps/e2e/src/a.ts': "export const a = 'it is told';",
        'apps/dids/node_modules/README.md': 'nobody',
        'libs/keys/dist/a.ts': "export const a = 'it is told';",
        'libs/contracts/src/a.ts': '// It is told.\nexport const a = 1;\n',
      }),
    ).toEqual({ status: 0, faults: [] });
  });
});
