import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { Module } from '@nestjs/common';
import {
  AppError,
  conflict,
  createDid,
  createWebhook,
  httpAnswer,
  invalidBody,
  listDids,
  oauthError,
  operationsOf,
  reserveIssuerKey,
  type BusParticipant,
  type ContextOf,
  type OperationContext,
  type OperationRequest,
} from '@attestry/contracts';
import { NotPermitted } from '@attestry/messaging';
import { parseConfig } from '../config/config.js';
import type { Engines } from '../engines/engines.js';
import { openEngines } from '../engines/open-engines.js';
import { busOf } from '../process/hosted.js';
import { startServices, type RunningServices } from '../process/serve.js';
import { ServiceClient } from './service-client.js';
import { Operation } from './use-case.js';

type Execute = (request: OperationRequest, context: OperationContext) => unknown;
/** Behavior of the service; a test sets it. */
let execute: Execute;

@Operation(...operationsOf('dids'))
class AnyUseCase {
  async execute(request: OperationRequest, context: OperationContext): Promise<never> {
    return (await execute(request, context)) as never;
  }
}
@Module({ providers: [AnyUseCase] })
class DidsModule {}
const dids = { name: 'dids', module: DidsModule, needs: [], projections: [] } as const;

const TENANT = { id: 't1', host: 'acme.example', baseUrl: 'https://acme.example' };
const contextOf = (over: Partial<OperationContext> = {}): ContextOf<typeof createDid> =>
  ({
    tenant: { ...TENANT },
    caller: { kind: 'client', clientId: 'c1' },
    requestId: 'r1',
    operation: 'test',
    deadline: Date.now() + 10_000,
    ...over,
  }) as ContextOf<typeof createDid>;
const CONFIGURATION = '11111111-1111-4111-8111-111111111111';
const creation = () => ({ body: { method: 'web' as const, options: { url: 'acme.example' } } });
const reservation = () => ({ body: { algorithms: ['P-256' as const], configurationId: CONFIGURATION } });

/** Error of the call. */
const thrownBy = async (call: Promise<unknown>): Promise<AppError> => {
  const error: unknown = await call.then(
    () => new Error('nothing was thrown'),
    (thrown: unknown) => thrown,
  );
  if (!(error instanceof AppError)) throw error;
  return error;
};
const membersOf = (error: AppError) => ({ ...error, message: error.message, cause: error.cause });

describe.each([
  { link: 'serialized', callsByReference: false },
  { link: 'by reference', callsByReference: true },
])('a call, $link', ({ callsByReference }) => {
  let folder: string;
  let engines: Engines;
  let services: RunningServices;
  const clientOf = (participant: BusParticipant) =>
    new ServiceClient(busOf(participant, engines), participant, engines.localOperations);
  const create = (context = contextOf()) => clientOf('gateway').call(createDid, creation(), context);
  /** Result of a call, as the caller receives it. */
  const received = (result: unknown): Promise<unknown> => {
    execute = () => result;
    return create();
  };

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'attestry-calls-'));
    const config = parseConfig({ DATA_DIR: folder, LOG_LEVEL: 'silent', NODE_ENV: 'test' });
    engines = await openEngines(config, { callsByReference });
    services = await startServices([dids], engines);
  });
  afterAll(async () => {
    await engines.close();
    await rm(folder, { recursive: true });
  });

  it('reaches the use case with request and context', async () => {
    const seen: unknown[] = [];
    execute = (request, context) => {
      seen.push(request, context);
      return { did: 'did:web:acme.example' };
    };
    const context = contextOf({ traceparent: '00-1', idempotencyKey: 'k1' });
    expect(await clientOf('gateway').call(createDid, creation(), context)).toEqual({ did: 'did:web:acme.example' });
    // An idempotent operation has its idempotentCall beside.
    expect(seen[0]).toEqual({ ...creation(), params: {}, query: {} });
    expect(seen[1]).toEqual({ ...context, idempotentCall: expect.anything() as object });
  });

  it('cannot be changed by its caller once it is sent', async () => {
    const request = creation();
    const context = contextOf();
    let seen: OperationRequest | undefined;
    execute = async (given) => {
      await pause(5);
      seen = given;
      return {};
    };
    const call = clientOf('gateway').call(createDid, request, context);
    expect(() => (request.body.options.url = 'evil.example')).toThrow(TypeError);
    request.body = { method: 'web', options: { url: 'evil.example' } };
    await call;
    expect(seen).toMatchObject(creation());
  });

  it('cannot be changed by the use case', async () => {
    const attempts: [string, (request: OperationRequest, context: OperationContext) => void][] = [
      ['a part', (request) => (request.body = {})],
      ['a member', ({ body }) => ((body as { method: string }).method = 'key')],
      ['a nested member', ({ body }) => ((body as { options: { url: string } }).options.url = 'evil.example')],
      ['the context', (_request, context) => (context.requestId = 'r2')],
      ['the caller', (_request, { caller }) => ((caller as { clientId: string }).clientId = 'c2')],
      ['the tenant', (_request, { tenant }) => (tenant!.id = 't2')],
    ];
    const frozen: string[] = [];
    execute = (request, context) => {
      for (const [what, change] of attempts)
        try {
          change(request, context);
        } catch (error) {
          if (error instanceof TypeError) frozen.push(what);
        }
      return {};
    };
    await create();
    expect(frozen).toEqual(attempts.map(([what]) => what));
  });

  it('returns a result that neither caller nor service can change', async () => {
    const cached = { did: 'did:web:acme.example', localMetadata: { keys: [{ kmsKeyId: 'k1' }] } };
    const answer = (await received(cached)) as typeof cached;
    expect(answer).toEqual(cached);
    expect(() => (answer.did = 'x')).toThrow(TypeError);
    expect(() => answer.localMetadata.keys.push({ kmsKeyId: 'k2' })).toThrow(TypeError);
    expect(() => (answer.localMetadata.keys[0]!.kmsKeyId = 'k2')).toThrow(TypeError);
    expect(await received(cached)).toEqual({
      did: 'did:web:acme.example',
      localMetadata: { keys: [{ kmsKeyId: 'k1' }] },
    });
  });

  class Named {
    readonly did = 'did:web:acme.example';
    get name(): string {
      return 'computed';
    }
  }
  it.each<[string, unknown, unknown]>([
    ['undefined', undefined, undefined],
    ['null', null, null],
    ['a string', 'text', 'text'],
    ['members that are undefined', { a: 1, b: undefined, c: { d: undefined } }, { a: 1, c: {} }],
    ['entries that are undefined or functions', { list: [1, undefined, () => 1] }, { list: [1, null, null] }],
    ['a Date', { at: new Date(0) }, { at: '1970-01-01T00:00:00.000Z' }],
    ['numbers that JSON cannot represent', [Number.NaN, Infinity], [null, null]],
    ['a Map and a Set', { map: new Map([['a', 1]]), set: new Set([1]) }, { map: {}, set: {} }],
    ['an instance of a class', new Named(), { did: 'did:web:acme.example' }],
    ['an instance with toJSON', { url: new URL('https://a.example/b') }, { url: 'https://a.example/b' }],
    ['bytes', new Uint8Array([1, 2]), { 0: 1, 1: 2 }],
    ['an object without a prototype', Object.assign(Object.create(null) as object, { a: 1 }), { a: 1 }],
    [
      'a response with status and headers',
      httpAnswer({ status: 302, headers: { location: 'x' }, body: 'y' }),
      { $http: { status: 302, headers: { location: 'x' }, body: 'y' } },
    ],
  ])('returns %s as JSON represents it', async (_what, result, expected) => {
    const answer = await received(result);
    expect(answer).toStrictEqual(expected);
    // The second time as the first: what the first call froze is not taken for something else.
    expect(await received(result)).toStrictEqual(answer);
  });

  it.each<[string, () => unknown]>([
    ['a BigInt', () => ({ n: 1n })],
    [
      'an object that contains itself',
      () => {
        const circle: Record<string, unknown> = {};
        circle['self'] = circle;
        return circle;
      },
    ],
  ])('that returns %s fails as an internal error', async (_what, result) => {
    const error = await thrownBy(received(result()));
    expect(membersOf(error)).toEqual(membersOf(new AppError('internal', 'Internal error')));
  });

  it('sends members of a request as JSON represents them', async () => {
    let body: unknown;
    execute = (request) => {
      body = request.body;
      return {};
    };
    const options = { url: 'acme.example', keyType: undefined, at: new Date(0) };
    await clientOf('gateway').call(createDid, { body: { method: 'web', options } as never }, contextOf());
    expect(body).toEqual({ method: 'web', options: { url: 'acme.example', at: '1970-01-01T00:00:00.000Z' } });
    expect(Object.keys((body as { options: object }).options)).toEqual(['url', 'at']);
  });

  it.each<[string, unknown]>([
    ['of the platform', conflict('taken', [{ msg: 'is taken', param: 'domain', location: 'body', value: { a: [1] } }])],
    ['with details that JSON changes', invalidBody('at', 'is too early', { at: new Date(0), gone: undefined })],
    ['of OAuth, with headers', oauthError('invalid_token', 'expired', { headers: { 'www-authenticate': 'Bearer' } })],
    ['with a private cause', new AppError('forbidden', 'Forbidden', { check: 'check-x', cause: new Error('secret') })],
    ['that is a fault of the code', new TypeError('secret')],
    ['of an engine', Object.assign(new Error('secret'), { name: 'EventStoreUnavailable' })],
    ['of a cursor', Object.assign(new Error('secret'), { name: 'InvalidCursor' })],
    ['that is a string', 'secret'],
  ])('throws an error %s as it is after serialization', async (_what, thrown) => {
    execute = () => {
      throw thrown;
    };
    const error = await thrownBy(create());
    expect(error).not.toBe(thrown);
    expect(error.cause).toBeUndefined();
    expect(error.check).toBeUndefined();
    expect(JSON.stringify(membersOf(error))).not.toContain('secret');
    const wire = thrown instanceof AppError ? thrown.toWire() : error.toWire();
    expect(error.toWire()).toStrictEqual(JSON.parse(JSON.stringify(wire)));
    expect(error.details === undefined || Object.isFrozen(error.details)).toBe(true);
  });

  it('of an operation that is not among the rights of its caller is refused before it is sent', async () => {
    let ran = 0;
    execute = () => ++ran;
    const refused: [BusParticipant, Promise<unknown>][] = [
      ['gateway', clientOf('gateway').call(reserveIssuerKey, reservation(), contextOf())],
      ['issuance', clientOf('issuance').call(createDid, creation(), contextOf())],
      ['webhooks', clientOf('webhooks').call(reserveIssuerKey, reservation(), contextOf())],
    ];
    for (const [participant, call] of refused) {
      const error: unknown = await call.catch((thrown: unknown) => thrown);
      expect(error).toBeInstanceOf(NotPermitted);
      expect((error as Error).message).toMatch(
        new RegExp(`^${participant} may not request op\\.dids\\..*: it is not among its rights on the bus$`),
      );
    }
    expect(ran).toBe(0);
  });

  it('of a service is made as that service, whoever called it', async () => {
    let caller: unknown;
    execute = (_request, context) => {
      caller = [context.caller, 'idempotentCall' in context];
      return {};
    };
    const idempotentCall = { id: 'a', beganAt: '', resumed: false, bytes: () => () => Buffer.alloc(0) };
    await clientOf('issuance').call(reserveIssuerKey, reservation(), contextOf({ idempotentCall }));
    expect(caller).toEqual([{ kind: 'service', service: 'issuance' }, false]);
  });

  it('is refused when the named caller is not credible for the participant', async () => {
    let ran = 0;
    execute = () => ++ran;
    const own = contextOf({ caller: { kind: 'service', service: 'issuance' } });
    const error = await thrownBy(create(own));
    expect(membersOf(error)).toEqual(membersOf(new AppError('forbidden', 'Forbidden')));
    expect(ran).toBe(0);
  });

  it('is checked for its shape, once: unknown members are dropped', async () => {
    const ran: unknown[] = [];
    execute = ({ body }) => {
      ran.push(body);
      return {};
    };
    const call = (body: object) => clientOf('issuance').call(reserveIssuerKey, { body: body as never }, contextOf());
    const error = await thrownBy(call({ algorithms: ['RSA'], configurationId: 'x' }));
    expect(error.details?.map(({ param }) => param)).toEqual(['algorithms', 'configurationId']);
    await call({ ...reservation().body, other: 1 });
    expect(ran).toEqual([reservation().body]);
  });

  it('that its process has checked is checked again only when it arrived over a bus', async () => {
    let ran = 0;
    execute = () => ({ ran: ++ran });
    const unchecked = { params: {}, query: {}, body: { method: 'other' } } as never;
    const call = clientOf('gateway').call(createDid, unchecked, contextOf(), true);
    if (callsByReference) expect(await call).toEqual({ ran: 1 });
    else expect((await thrownBy(call)).kind).toBe('invalid');
  });

  it('ends at its deadline with 503, while the use case continues', async () => {
    let finish!: () => void;
    const finishing = new Promise<void>((resolve) => (finish = resolve));
    execute = () => finishing;
    const began = Date.now();
    const error = await thrownBy(create(contextOf({ deadline: began + 50 })));
    expect([error.kind, error.message]).toEqual(['unavailable', 'Service temporarily unavailable']);
    expect(error.cause).toMatchObject({ name: 'RequestFailed', reason: 'timeout', subject: createDid.subject });
    expect(Date.now() - began).toBeGreaterThanOrEqual(45);
    finish();
    expect(await engines.metrics.text()).toContain('attestry_bus_request_failures_total{reason="timeout"} 1');
  });

  it('does not begin after its deadline', async () => {
    let ran = 0;
    execute = () => ++ran;
    for (const deadline of [0, Date.now() - 1]) {
      const error = await thrownBy(create(contextOf({ deadline })));
      expect([error.kind, error.cause]).toEqual(['unavailable', expect.objectContaining({ reason: 'timeout' })]);
    }
    expect(ran).toBe(0);
  });

  it('of an operation without a responder is a 503', async () => {
    const error = await thrownBy(
      clientOf('gateway').call(createWebhook, { body: { url: 'https://a.example', events: [] } as never }, contextOf()),
    );
    expect([error.kind, error.cause]).toEqual(['unavailable', expect.objectContaining({ reason: 'no-responder' })]);
  });

  it('is counted and timed', async () => {
    const list = () => clientOf('gateway').call(listDids, {}, contextOf());
    execute = () => ({ data: [] });
    await list();
    execute = () => {
      throw conflict('taken');
    };
    await thrownBy(list());
    const text = await engines.metrics.text();
    expect(text).toContain('attestry_operations_total{operation="dids.list-dids",outcome="ok"} 1\n');
    expect(text).toContain('attestry_operations_total{operation="dids.list-dids",outcome="conflict"} 1\n');
    expect(text).toContain('attestry_operation_duration_seconds_count{operation="dids.list-dids"} 2\n');
  });

  it('in progress is finished when the services stop, and no other is accepted', async () => {
    let finish!: () => void;
    const finishing = new Promise<void>((resolve) => (finish = resolve));
    let begun = false;
    execute = async () => {
      begun = true;
      await finishing;
      return { did: 'done' };
    };
    const call = create();
    while (!begun) await pause(1);
    let closed = false;
    const closing = services.close().then(() => (closed = true));
    const late = await thrownBy(create());
    expect([late.kind, late.cause]).toEqual(['unavailable', expect.objectContaining({ reason: 'no-responder' })]);
    expect(closed).toBe(false);
    finish();
    expect(await call).toEqual({ did: 'done' });
    await closing;
  });
});
