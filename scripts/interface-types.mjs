// Writes the types of the tests' client from the OpenAPI documents: built, not committed.
import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { root } from './setup.mjs';

const GENERATOR = 'openapi-typescript';

/** Writes those that are missing or that were made of another document. @returns {Promise<number>} how many */
export async function writeInterfaceTypes() {
  const { version } = JSON.parse(readFileSync(join(root, 'node_modules', GENERATOR, 'package.json'), 'utf8'));
  let written = 0;
  for (const name of ['management', 'tenant']) {
    const source = `libs/contracts/src/openapi/${name}.json`;
    const output = join(root, `libs/testing/src/interface/${name}.d.ts`);
    const text = await readFile(join(root, source), 'utf8');
    const digest = createHash('sha256').update(version).update(text).digest('hex');
    const head = `// Built from ${source} with ${GENERATOR}, not committed: ${digest}\n`;
    if (existsSync(output) && (await readFile(output, 'utf8')).startsWith(head)) continue;
    const { default: openapiTypes, astToString } = await import(GENERATOR);
    const types = astToString(await openapiTypes(JSON.parse(text), { alphabetize: true }));
    await mkdir(dirname(output), { recursive: true });
    // Two builds may run side by side: a reader must never see half a file.
    const half = `${output}.${process.pid}.half`;
    await writeFile(half, `${head}${types}`);
    await rename(half, output);
    written += 1;
  }
  return written;
}
