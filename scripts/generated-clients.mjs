// Generates clients from both interface definitions with two public generators and compiles them under `strict`, with the TypeScript files that the
// folder already has: the tests prove with it that clients can be generated and used. Prints a line for each error; reads no network.
// node scripts/generated-clients.mjs <folder>
import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { createClient } from '@hey-api/openapi-ts';
import openapiTypes, { astToString } from 'openapi-typescript';
import ts from 'typescript';
import { root } from './setup.mjs';

const folder = process.argv[2];
for (const name of ['management', 'tenant']) {
  const input = join(root, `libs/contracts/src/openapi/${name}.json`);
  mkdirSync(join(folder, 'openapi-typescript'), { recursive: true });
  const types = astToString(await openapiTypes(JSON.parse(readFileSync(input, 'utf8'))));
  writeFileSync(join(folder, `openapi-typescript/${name}.ts`), types);
  await createClient({
    input,
    output: join(folder, `openapi-ts/${name}`),
    logs: { level: 'silent', file: false },
    plugins: ['@hey-api/client-fetch', '@hey-api/typescript', '@hey-api/sdk'],
  });
}
// For imports of `openapi-fetch`, which uses the types of the first generator.
if (!existsSync(join(folder, 'node_modules'))) symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'));

const files = (await readdir(folder, { recursive: true }))
  .filter((path) => path.endsWith('.ts') && !path.startsWith('node_modules'))
  .map((path) => join(folder, path));
const program = ts.createProgram(files, {
  strict: true,
  noEmit: true,
  skipLibCheck: true,
  target: ts.ScriptTarget.ES2023,
  lib: ['lib.es2023.d.ts', 'lib.dom.d.ts', 'lib.dom.iterable.d.ts'],
  module: ts.ModuleKind.ESNext,
  moduleResolution: ts.ModuleResolutionKind.Bundler,
  types: [],
});
const errors = ts.getPreEmitDiagnostics(program);
for (const { file, messageText } of errors)
  console.error(`${file ? relative(folder, file.fileName) : ''}: ${ts.flattenDiagnosticMessageText(messageText, ' ')}`);
process.exit(errors.length > 0 ? 1 : 0);
