import { readFileSync } from 'node:fs';
import { INTERFACE_DOCUMENTS, type OpenApiDocument } from './openapi/interface-documents.js';
import type { JsonSchema } from './openapi/json-schema.js';

const documents = Object.values(INTERFACE_DOCUMENTS).map(
  (url) => JSON.parse(readFileSync(url, 'utf8')) as OpenApiDocument,
);
const schemas: Record<string, JsonSchema> = Object.assign({}, ...documents.map(({ components }) => components.schemas));
const schemaOf = (name: string): JsonSchema => schemas[name]!;

interface Described {
  operationId: string;
  parameters?: { name: string; in: string; schema: JsonSchema }[];
  requestBody?: { content: Record<string, { schema: JsonSchema }> };
}
/** Headers of HTTP, which have the maximum of all headers, and the segments of a path. */
const UNDECLARED = ['If-None-Match', 'Prefer', 'path'];
/**
 * Members that callers send, as the interface definitions describe them. Classes of operations between services are not there; the compiler
 * of service-kit refuses them without maxima.
 */
const inputs = documents
  .flatMap(({ paths }) => Object.values(paths).flatMap((methods) => Object.values(methods)))
  .flatMap((operation): [string, JsonSchema][] => {
    const { operationId, parameters = [], requestBody } = operation as unknown as Described;
    return [
      ...parameters
        .filter(({ name }) => !UNDECLARED.includes(name))
        .map(({ name, schema }): [string, JsonSchema] => [`${operationId}: ${name}`, schema]),
      ...Object.entries(requestBody?.content ?? {})
        .filter(([type]) => type !== 'application/jwt')
        .map(([type, { schema }]): [string, JsonSchema] => [`${operationId}: ${type}`, schema]),
    ];
  });

/** Paths of arrays, maps and strings of unbounded size. The TypeScript type of a member counts, not its decorators. */
const unbounded = (schema: JsonSchema, path: string): string[] => {
  // Read-only members are ignored.
  if (schema.const !== undefined || schema.enum || schema.readOnly) return [];
  if (schema.anyOf) return schema.anyOf.flatMap((one) => unbounded(one, path));
  if (schema.$ref) {
    const name = schema.$ref.slice(schema.$ref.lastIndexOf('/') + 1);
    return unbounded(schemaOf(name), `${path} (${name})`);
  }
  // Beside the number of members: BoundedJson limits names, texts, depth and values below.
  if (schema.maxProperties !== undefined && schema.propertyNames?.maxLength !== undefined) return [];
  const [type] = [schema.type].flat();
  switch (type) {
    case 'string':
      return schema.maxLength === undefined ? [`${path} is a text`] : [];
    case 'array':
      return [
        ...(schema.maxItems === undefined ? [`${path} is an array`] : []),
        // Entries of any type are within the bounds of the array.
        ...(schema.items && Object.keys(schema.items).length > 0 ? unbounded(schema.items, `${path}.*`) : []),
      ];
    case 'number':
    case 'integer':
    case 'boolean':
    case 'null':
      return [];
    case 'object':
      if (!schema.properties) return [`${path} is a map`];
      return Object.entries(schema.properties).flatMap(([name, member]) => unbounded(member, `${path}.${name}`));
    default:
      return [`${path} is of any type`];
  }
};

describe('the input of callers', () => {
  it.each(inputs)('is bounded in every member: %s', (name, schema) => {
    expect(unbounded(schema, name)).toEqual([]);
  });

  it('covers all kinds of members', () => {
    expect(unbounded({ type: 'object', additionalProperties: {} }, 'A')).toEqual(['A is a map']);
    expect(unbounded({ type: 'object', properties: { a: {}, b: { type: 'string' } } }, 'A')).toEqual([
      'A.a is of any type',
      'A.b is a text',
    ]);
    expect(unbounded({ type: 'array', items: { type: 'string' } }, 'A')).toEqual(['A is an array', 'A.* is a text']);
    expect(inputs.length).toBeGreaterThan(300);
  });
});
