import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { INTERFACE_DOCUMENTS, type InterfaceName, type OpenApiDocument } from '@attestry/contracts';
import { repository } from './platform-process.js';

const NAMES = ['management', 'tenant'] as const satisfies readonly InterfaceName[];
const sourceOf = (name: InterfaceName): string => join(repository, `libs/contracts/src/openapi/${name}.json`);

/** The committed interface definitions. */
export const interfaceDocuments = (): OpenApiDocument[] => NAMES.map(interfaceDocument);
export const interfaceDocument = (name: InterfaceName): OpenApiDocument =>
  JSON.parse(readFileSync(INTERFACE_DOCUMENTS[name], 'utf8')) as OpenApiDocument;

/** With `RECORD_EXAMPLES=1` the specs that check the examples of the interface definitions write them. */
export const isRecording = process.env['RECORD_EXAMPLES'] === '1';

/** Writes examples into the committed documents; `npm run docs` then copies them to further media types and paths. */
export const writeExamples = (write: (document: OpenApiDocument) => void): void => {
  for (const name of NAMES) {
    const path = sourceOf(name);
    const document = JSON.parse(readFileSync(path, 'utf8')) as OpenApiDocument;
    write(document);
    writeFileSync(path, JSON.stringify(document));
  }
  execFileSync(join(repository, 'node_modules/.bin/prettier'), ['--write', ...NAMES.map(sourceOf)]);
};
