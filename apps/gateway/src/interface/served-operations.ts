import { readFileSync } from 'node:fs';
import { INTERFACE_DOCUMENTS, type InterfaceName, type OpenApiDocument } from '@attestry/contracts';

/** The operations that the gateway routes: the registry, or those of a test. */
export const SERVED_OPERATIONS = Symbol('SERVED_OPERATIONS');

/** Reads an interface definition: the committed one, or that of a test. */
export type ReadDocument = (name: InterfaceName) => OpenApiDocument;
export const READ_DOCUMENT = Symbol('READ_DOCUMENT');
export const readCommitted: ReadDocument = (name) =>
  JSON.parse(readFileSync(INTERFACE_DOCUMENTS[name], 'utf8')) as OpenApiDocument;
