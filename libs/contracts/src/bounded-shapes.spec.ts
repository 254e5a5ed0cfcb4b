import 'reflect-metadata';
import { withRules, classesWithRules } from './openapi/declared-rules.js';
import type { JsonSchema } from './openapi/json-schema.js';
import { SHAPES } from './openapi/shapes.generated.js';
import type { DtoClass, Operation } from './operation.js';
import { OPERATIONS } from './registry.js';

/**
 * Every class whose members a caller sends: parts of requests, and what raw bodies, queries and headers are declared to hold. Classes of operations
 * between services have no shape here; the compiler of service-kit refuses them without maxima.
 */
const requestClasses = ({ params, query, body, http }: Operation): DtoClass[] =>
  http
    ? [params, query, body, http.acceptsQuery, http.acceptsHeaders, ...Object.values(http.accepts ?? {})].filter(
        (type) => type !== undefined,
      )
    : [];

const schemaOf = (name: string): JsonSchema => {
  const dto = classesWithRules().get(name);
  const shape = SHAPES[name];
  if (!shape) throw new Error(`${name} has no shape: npm run docs`);
  return dto ? withRules(shape, dto) : shape;
};

/** Paths of arrays, maps and strings of unbounded size. The TypeScript type of a member counts, not its decorators. */
const unbounded = (schema: JsonSchema, path: string): string[] => {
  if (schema.const !== undefined || schema.enum) return [];
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

const classes = [...new Map(OPERATIONS.flatMap(requestClasses).map((dto) => [dto.name, dto])).keys()];

describe('the input of callers', () => {
  it.each(classes)('is bounded in every member: %s', (name) => {
    expect(unbounded(schemaOf(name), name)).toEqual([]);
  });

  it('covers all kinds of members', () => {
    expect(unbounded({ type: 'object', additionalProperties: {} }, 'A')).toEqual(['A is a map']);
    expect(unbounded({ type: 'object', properties: { a: {}, b: { type: 'string' } } }, 'A')).toEqual([
      'A.a is of any type',
      'A.b is a text',
    ]);
    expect(unbounded({ type: 'array', items: { type: 'string' } }, 'A')).toEqual(['A is an array', 'A.* is a text']);
    expect(classes.length).toBeGreaterThan(35);
  });
});
