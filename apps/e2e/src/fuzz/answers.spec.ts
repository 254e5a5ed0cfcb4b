import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import fc from 'fast-check';
import { interfaceDocument } from '@attestry/testing';
import { AnswerCheck, type RawAnswer } from './answers.js';
import { callsOf, Values } from './calls.js';
import type { ApiName } from './described-operations.js';

const headers = {
  'x-request-id': 'abcdefghijklmnopqrstuv',
  'x-ratelimit-limit': '10',
  'x-ratelimit-remaining': '9',
  'x-ratelimit-reset': '1700000000',
  'cache-control': 'no-store',
  'content-type': 'application/json; charset=utf-8',
};
const tenant = new AnswerCheck('tenant', interfaceDocument('tenant'));
const webhook = { id: 'a', events: ['OpenIdCredentialIssued'], url: 'https://a.example', disabled: false };
const answer = (status: number, body: unknown, more: Partial<RawAnswer['headers']> = {}): RawAnswer => ({
  status,
  headers: { ...headers, ...more },
  text: typeof body === 'string' ? body : JSON.stringify(body),
});
const faults = (given: RawAnswer, method = 'POST', url = '/v1/webhooks?x=1') => tenant.faultsOf(method, url, given);

describe('the check of an answer', () => {
  it('finds no fault in an answer that fits the definition', () => {
    expect(faults(answer(201, webhook))).toEqual([]);
    expect(faults(answer(200, { data: [webhook] }), 'GET')).toEqual([]);
    expect(faults(answer(400, { code: 'BadRequest', message: 'x' }))).toEqual([]);
    const refused = { code: 'Unauthorized', message: 'x' };
    expect(faults(answer(401, refused, { 'www-authenticate': 'Bearer' }))).toEqual([]);
    expect(faults(answer(204, '', { 'content-type': undefined }), 'DELETE', '/v1/webhooks/x')).toEqual([]);
    expect(faults(answer(405, { code: 'MethodNotAllowed', message: 'x' }, { allow: 'GET' }), 'PATCH')).toEqual([]);
    const cached = { etag: '"a"', vary: 'Accept-Encoding' };
    expect(faults(answer(200, { a: 1 }, cached), 'GET', '/people/ada/did.json')).toEqual([]);
    expect(faults(answer(200, { a: 1 }), 'GET', '/people/ada/did.json')).toEqual([
      '200 has no etag',
      '200 has no vary',
    ]);
  });

  it.each<[string, RawAnswer]>([
    ['a member that is not declared', answer(201, { ...webhook, secret: 'x' })],
    ['a member that is missing', answer(201, { ...webhook, url: undefined })],
    ['a member of another type', answer(201, { ...webhook, disabled: 'no' })],
    ['a value that is not declared', answer(201, { ...webhook, events: ['Other'] })],
    ['a status that is not declared', answer(200, webhook)],
    ['a fault of the platform', answer(500, { code: 'InternalError', message: 'x' })],
    ['an error in another shape', answer(400, { error: 'invalid_request' })],
    [
      'a refusal in text that should be JSON',
      answer(403, 'Forbidden', { 'content-type': 'text/plain', 'www-authenticate': 'Bearer' }),
    ],
    ['a missing challenge', answer(401, { code: 'Unauthorized', message: 'x' })],
    ['a missing request id', answer(201, webhook, { 'x-request-id': undefined })],
    ['a media type that is not declared', answer(201, webhook, { 'content-type': 'text/html' })],
    ['no JSON', answer(201, '{')],
  ])('finds %s', (_name, given) => {
    expect(faults(given)).not.toEqual([]);
  });

  it('finds an answer without an operation, and a body where none is declared', () => {
    expect(faults(answer(200, {}), 'GET', '/v1/nothing')).not.toEqual([]);
    expect(faults(answer(405, { code: 'MethodNotAllowed', message: 'x' }), 'PATCH')).not.toEqual([]);
    expect(faults(answer(204, 'x'), 'DELETE', '/v1/webhooks/x')).not.toEqual([]);
  });
});

describe.each<ApiName>(['management', 'tenant'])('the calls generated from the %s definition', (api) => {
  const document = interfaceDocument(api);
  const values = new Values(document);
  const { operations } = new AnswerCheck(api, document);
  const ajv = new Ajv2020({ strict: false });
  (addFormats as unknown as (ajv: Ajv2020) => void)(ajv);
  ajv.addSchema({ $id: api, ...document } as object, api);

  it.each(operations.map((operation) => [operation.id, operation] as const))('%s', (_id, operation) => {
    const [content] = Object.values(operation.body ?? {});
    const validate = content && ajv.compile({ $ref: `${api}${content.schema.$ref}` });
    // Picks stand where an id comes later.
    const withIds = (value: unknown): unknown =>
      JSON.parse(JSON.stringify(value), (_key, one: unknown) =>
        typeof one === 'object' && one !== null && 'pick' in one ? '3f0f2c59-6a27-4e80-b2a0-9b6f5f0c7d11' : one,
      );
    if (content) {
      const right = fc.sample(values.arbitraryOf(content.schema), { numRuns: 20, seed: 1 });
      for (const value of right) expect([validate!(withIds(value)), validate!.errors]).toEqual([true, null]);
    }
    const calls = fc.sample(callsOf(operation, values), { numRuns: 40, seed: 1 });
    expect(calls.some(({ method, credentials }) => method === operation.method && credentials === 'right')).toBe(true);
  });
});
