import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { repository } from './platform-process.js';

/** With `RECORD_EXAMPLES=1` the specs that check the examples of the interface definitions write them. */
export const isRecording = process.env['RECORD_EXAMPLES'] === '1';

/** Writes a module of examples; `npm run docs` then writes the documents that show them. */
export const writeExamples = (
  file: 'response-examples' | 'error-examples',
  spec: string,
  about: string,
  examples: Readonly<Record<string, unknown>>,
): void => {
  const path = join(repository, `libs/contracts/src/openapi/${file}.generated.ts`);
  const sorted = Object.fromEntries(Object.entries(examples).sort(([a], [b]) => (a < b ? -1 : 1)));
  writeFileSync(
    path,
    `// Recorded by ${spec} (RECORD_EXAMPLES=1). Do not edit.

/** ${about} */
export const ${file.toUpperCase().replace('-', '_')}: Readonly<Record<string, unknown>> = ${JSON.stringify(sorted)};
`,
  );
  execFileSync(join(repository, 'node_modules/.bin/prettier'), ['--write', path]);
};
