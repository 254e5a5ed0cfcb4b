import { EventEmitter } from 'node:events';
import type { FastifyReply, FastifyRequest } from 'fastify';
import {
  AppError,
  defineOperation,
  publicAccess,
  type Operation,
  type OperationDeclaration,
  type TenantContext,
} from '@attestry/contracts';
import type { RateState } from '../request/rate-limits.js';
import type { Admitted, Exchange } from './exchange.js';
import { planOf } from './plan.js';

export const HOST = 'acme.example';
export const TENANT: TenantContext = { id: 't1', host: HOST, baseUrl: `https://${HOST}` };
/** Milliseconds since the epoch. */
export const NOW = 1_000_000;

type Declared = Partial<OperationDeclaration<unknown, unknown, unknown, unknown>>;
export const operationOf = ({ http, ...declared }: Declared = {}): Operation =>
  defineOperation({
    name: 'dids.list-dids',
    summary: 'x',
    access: publicAccess,
    errors: 'tenant',
    http: { method: 'GET', path: '/v1/things/:id', success: 200, ...http },
    ...declared,
  });

/** A reply that records its calls. */
export class FakeReply {
  status: number | undefined;
  readonly kept: Record<string, unknown> = {};
  readonly sent: unknown[] = [];
  readonly raw = new EventEmitter();

  code(status: number): this {
    this.status = status;
    return this;
  }
  header(name: string, value: unknown): this {
    this.kept[name] = value;
    return this;
  }
  headers(all: object): this {
    Object.assign(this.kept, all);
    return this;
  }
  send(body: unknown): this {
    this.sent.push(body);
    return this;
  }
}
export const replyOf = ({ reply }: Exchange): FakeReply => reply as unknown as FakeReply;

interface Sent {
  method?: string;
  url?: string;
  headers?: Record<string, string | string[]>;
  body?: string | Buffer;
}

/** An admitted request of the operation, with the overrides of a test. */
export const exchangeOf = (sent: Sent = {}, declared: Declared = {}, known: Partial<Exchange> = {}): Admitted => {
  const { method = 'GET', url = '/v1/things/7', headers = {}, body } = sent;
  const plan = planOf(operationOf(declared), 5000);
  const raw = { rawHeaders: ['Host', HOST], httpVersion: '1.1', headers: { host: HOST } };
  const request = { method, url, originalUrl: url, headers, raw, ...(body && { body: Buffer.from(body) }) };
  const exchange: Exchange = {
    request: request as unknown as FastifyRequest,
    reply: new FakeReply() as unknown as FastifyReply,
    requestId: 'r1',
    startedAt: NOW,
    address: '192.0.2.1',
    hostHeader: HOST,
    isForwarded: false,
    traceparent: undefined,
    path: url.split('?', 1)[0]!,
    observed: {},
    deadline: NOW + 1000,
    shape: { errors: 'tenant', corsHeaders: {} },
    host: { api: 'tenant', publicUrl: `https://${HOST}`, tenant: TENANT },
    plan,
    params: { id: '7' },
    caller: { kind: 'public' },
    context: {
      tenant: TENANT,
      caller: { kind: 'public' },
      requestId: 'r1',
      operation: plan.operation.name,
      deadline: NOW + 1000,
    },
    ...known,
  };
  return exchange as Admitted;
};

export const rate = (over: Partial<RateState> = {}): RateState => ({
  limit: 10,
  remaining: 4,
  reset: Math.floor(Date.now() / 1000) + 30,
  exceeded: false,
  ...over,
});
export const EXCEEDED = rate({ remaining: 0, exceeded: true });

/** Limits that return one state, and record their calls. */
export const ratesOf = (state: RateState = rate()) => {
  const calls: unknown[][] = [];
  const answer =
    (name: string) =>
    async (...args: unknown[]) => {
      calls.push([name, ...args]);
      return state;
    };
  const rates = {
    count: answer('count'),
    publicCalls: answer('publicCalls'),
    tokenFailures: answer('tokenFailures'),
    tokenCalls: answer('tokenCalls'),
    countTokenCall: answer('countTokenCall'),
    countTokenFailure: answer('countTokenFailure'),
    untouched: () => rate({ remaining: 10 }),
  } as never;
  return { calls, rates };
};

/** Counts no unread bytes. */
export const unread = { add: () => undefined, check: () => undefined, reserve: () => undefined } as never;

/** Error that the call throws, or rejects with. */
export const errorOf = async (call: () => unknown): Promise<AppError> => {
  try {
    await call();
  } catch (error) {
    return error as AppError;
  }
  throw new Error('nothing was thrown');
};

/** Records, and log lines. @param lost whether recording fails @param tenant that the caller of a management call may read */
export const recordsOf = ({ lost = false, data, tenant }: { lost?: boolean; data?: string; tenant?: object } = {}) => {
  /** How each was sent, and what. */
  const records: [string, Record<string, unknown>][] = [];
  const logged: unknown[][] = [];
  const refused: unknown[][] = [];
  const record = (how: string) => async (message: Record<string, unknown>) => {
    records.push([how, message]);
    if (lost) throw new Error('disk full');
  };
  const sealed: unknown[] = [];
  const seal = (_operation: unknown, _context: unknown, ...what: unknown[]) => {
    sealed.push(what);
    return data === undefined ? undefined : Promise.resolve(data);
  };
  const asked: [operation: string, request: object, deadline: number][] = [];
  const call = async (operation: Operation, request: object, { deadline }: { deadline: number }) => {
    asked.push([operation.name, request, deadline]);
    if (!tenant) throw new AppError('notFound', 'Resource Not Found');
    return tenant;
  };
  const used = {
    recorder: {
      ...{ start: record('start'), write: record('write'), add: record('add') },
      addRepeatable: (message: Record<string, unknown>, call: object) => record('addRepeatable')({ ...message, call }),
    },
    operationData: { ofRequest: seal, ofAnswer: seal },
    services: { call },
    clock: { now: () => new Date(NOW) },
    logger: {
      error: (...args: unknown[]) => void logged.push(args),
      info: (...args: unknown[]) => void refused.push(['info', ...args]),
      debug: (...args: unknown[]) => void refused.push(['debug', ...args]),
    },
  } as never;
  return { records, logged, refused, sealed, asked, used };
};
export const RECORDED = { analytics: { prefix: 'THING_READ', category: 'thing' } };
/** {@link NOW} in RFC 3339. */
export const RECORDED_AT = new Date(NOW).toISOString();
/** Common to the records of {@link exchangeOf}. */
export const RECORD = {
  ...RECORDED.analytics,
  tenantId: TENANT.id,
  requestId: 'r1',
  operation: 'dids.list-dids',
  startedAt: RECORDED_AT,
  endedAt: RECORDED_AT,
  outcome: 'SUCCESS',
};
export const LOST = [
  { requestId: 'r1', tenantId: 't1', operation: 'dids.list-dids', error: 'Error: disk full' },
  'operation event not recorded',
];
