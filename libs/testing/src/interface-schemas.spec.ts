import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

type Check = (document: object) => string[];

const repository = join(dirname(fileURLToPath(import.meta.url)), '../../..');
const { schemaFaults, unreachableAddresses } = (await import(
  pathToFileURL(join(repository, 'scripts/interface-schemas.mjs')).href
)) as { schemaFaults: Check; unreachableAddresses: Check };

const text = { type: 'string' };
const named = (schema: object) => ({ components: { schemas: { A: schema } } });
const faultsOf = (schema: object) => schemaFaults(named(schema));

describe('the check of schemas that generators of clients read', () => {
  it.each(['management', 'tenant'])('finds nothing in the interface definition: %s [T800]', (name) => {
    const document = JSON.parse(
      readFileSync(join(repository, `libs/contracts/src/openapi/${name}.json`), 'utf8'),
    ) as object;
    expect([...schemaFaults(document), ...unreachableAddresses(document)]).toEqual([]);
  });

  it.each([
    ['null in an enum', { enum: ['a', null] }, 'an enum has null or a boolean'],
    ['a boolean in an enum', { type: 'boolean', enum: [true, false] }, 'an enum has null or a boolean'],
    ['several types', { type: ['string', 'object'] }, 'has several types'],
    [
      'an object among named alternatives',
      { anyOf: [text, { type: 'object', additionalProperties: {} }] },
      'an object among alternatives has no name',
    ],
    [
      'alternatives without a name',
      { type: 'array', items: { anyOf: [text, { $ref: '#/components/schemas/A' }] } },
      '/components/schemas/A/items: alternatives have no name',
    ],
    [
      'an object without a name',
      { type: 'object', additionalProperties: { type: 'object', properties: { a: text } } },
      '/components/schemas/A/additionalProperties: an object with members has no name',
    ],
    [
      'an enum that occurs twice',
      { properties: { a: { enum: ['x', 'y'] }, b: { enum: ['x', 'y'] } } },
      '/components/schemas/A/properties/a, /components/schemas/A/properties/b: the same enum, without a name',
    ],
  ])('finds %s', (_fault, schema, message) => {
    expect(faultsOf(schema)).toContainEqual(expect.stringContaining(message));
  });

  it.each([
    ['null beside one type', { type: ['boolean', 'null'] }],
    [
      'null beside a named schema',
      { properties: { a: { anyOf: [{ $ref: '#/components/schemas/A' }, { type: 'null' }] } } },
    ],
    ['members that are called like keywords', { properties: { enum: text, anyOf: text, properties: text } }],
    ['examples', { example: { properties: {}, enum: [null] } }],
  ])('accepts %s', (_what, schema) => {
    expect(faultsOf(schema)).toEqual([]);
  });

  it('finds addresses that can never be reached', () => {
    expect(unreachableAddresses({ servers: [{ url: 'https://auth.attestry.invalid/x' }] })).toEqual([
      ': the address auth.attestry.invalid can never be reached',
    ]);
    expect(unreachableAddresses({ description: 'The request is invalid. invalid_request' })).toEqual([]);
  });
});
