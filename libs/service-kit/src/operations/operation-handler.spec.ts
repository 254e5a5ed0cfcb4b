import {
  createWebhook,
  deleteUser,
  retrieveWebhook,
  updateClient,
  type Operation,
  type OperationContext,
  type OperationRequest,
  type ServiceName,
} from '@attestry/contracts';
import type { BusContext } from '@attestry/messaging';
import { eventContext } from './event-context.js';
import { createLogger, type Logger } from '../process/logger.js';
import { messageHandler, operationHandler } from './operation-handler.js';
import { contextToHeaders } from './operation-headers.js';

/** Records that services send, by how. */
const recorded: [string, unknown][] = [];
const recorder = {
  add: (record: unknown) => void recorded.push(['add', record]),
  write: async (record: unknown) => void recorded.push(['write', record]),
};
const now = '2026-01-02T03:04:05.678Z';
const engines = (logger: Logger) =>
  ({ logger, clock: { now: () => new Date(now) }, recorders: { of: () => recorder } }) as never;

describe('the shape of requests to a service', () => {
  const ran: OperationRequest[] = [];
  const useCase = {
    execute: async (request: OperationRequest) => {
      ran.push(request);
      return {};
    },
  };
  const handle = operationHandler(createWebhook, useCase, engines(createLogger('silent')));
  const contextFor = (caller: OperationContext['caller']): OperationContext => ({
    caller,
    tenant: { id: 't', host: 'a', baseUrl: 'http://a' },
    requestId: 'r',
    operation: createWebhook.name,
    deadline: Date.now() + 60_000,
  });
  const wrong = { params: {}, query: {}, body: { events: [] } };
  const gateway = contextFor({ kind: 'client', clientId: 'c' });
  beforeEach(() => ran.splice(0));

  it('is checked when they enter the process', async () => {
    expect(await handle(wrong, gateway, 'gateway', false)).toMatchObject({ ok: false, error: { kind: 'invalid' } });
    expect(ran).toEqual([]);
  });

  it('is not checked again in the process that has checked it', async () => {
    expect(await handle(wrong, gateway, 'gateway', true)).toMatchObject({ ok: true });
    expect(ran).toEqual([wrong]);
  });

  it('is checked after the caller: a service without the right gets 403', async () => {
    const other: ServiceName = 'dids';
    const own = contextFor({ kind: 'service', service: other });
    expect(await handle(wrong, own, other, true)).toMatchObject({ ok: false, error: { kind: 'forbidden' } });
    expect(ran).toEqual([]);
  });

  it('is not read when the context is invalid: the caller gets 500, the log names the member', async () => {
    const lines: Record<string, unknown>[] = [];
    const destination = { write: (line: string) => void lines.push(JSON.parse(line) as Record<string, unknown>) };
    const answer = messageHandler(createWebhook, handle, createLogger('info', { destination }));
    const right = contextToHeaders(createWebhook, gateway);
    const { tenant: _tenant, ...withoutTenant } = right;
    for (const headers of [withoutTenant, { ...right, 'public-url': 'http://a' }, {}])
      expect(await answer(wrong, { getHeaders: () => headers, getFrom: () => 'gateway' } as BusContext)).toMatchObject({
        ok: false,
        error: { kind: 'internal', message: 'Internal error' },
      });
    expect(ran).toEqual([]);
    expect(lines.map(({ check, requestId, operation }) => [check, requestId, operation])).toEqual([
      ['parse-context', 'r', createWebhook.name],
      ['parse-context', 'r', createWebhook.name],
      ['parse-context', 'unknown', createWebhook.name],
    ]);
    expect(lines[0]!['cause']).toContain('context of webhooks.create-webhook: tenant must be a text that is not empty');
    expect(lines[1]!['cause']).toContain('context of webhooks.create-webhook: public-url is no member of it');
  });

  it('names request, tenant and operation in the log of a refusal', async () => {
    const lines: Record<string, unknown>[] = [];
    const destination = { write: (line: string) => void lines.push(JSON.parse(line) as Record<string, unknown>) };
    await operationHandler(createWebhook, useCase, engines(createLogger('info', { destination })))(
      wrong,
      gateway,
      'gateway',
      false,
    );
    expect(lines).toEqual([
      expect.objectContaining({
        msg: 'operation refused',
        requestId: 'r',
        tenantId: 't',
        operation: createWebhook.name,
        level: 'info',
        code: 'BadRequest',
        member: expect.any(String),
        reason: expect.any(String),
      }),
    ]);
  });
});

describe('the record of a command', () => {
  const startedAt = '2026-01-02T03:04:05.000Z';
  const contextOf = (operation: Operation): OperationContext => ({
    caller: { kind: 'client', clientId: 'c' },
    tenant: { id: 't', host: 'a', baseUrl: 'http://a' },
    requestId: 'r',
    operation: operation.name,
    deadline: Date.now() + 60_000,
    record: { startedAt, requestData: 'sealed' },
  });
  const id = '11111111-1111-4111-8111-111111111111';
  const params = { id, webhookId: id, tenantId: id, clientId: 'c1' };
  const call = async (operation: Operation, work: (context: OperationContext) => unknown, change: object = {}) => {
    recorded.splice(0);
    const useCase = { execute: async (_request: OperationRequest, context: OperationContext) => work(context) };
    const handle = operationHandler(operation, useCase, engines(createLogger('silent')));
    const request = { params, query: {}, body: {} };
    const reply = await handle(request, { ...contextOf(operation), ...change }, 'gateway', true);
    return { ok: reply.ok, recorded: [...recorded] };
  };
  const message = {
    prefix: 'WEBHOOK_CREATE',
    category: 'webhook',
    startedAt,
    endedAt: now,
    outcome: 'SUCCESS',
    requestData: 'sealed',
    tenantId: 't',
    requestId: 'r',
    operation: createWebhook.name,
    clientId: 'c',
  };

  it('is in the event that the command appends, with the object of the stream', async () => {
    const appended = await call(createWebhook, (context) => {
      const { record } = eventContext(context, 't');
      const { tenantId: _, requestId: __, operation: ___, clientId: ____, endedAt: _____, ...stored } = message;
      expect(record!.recordFor('webhook-t+w1', { type: 'X', data: {} })).toEqual({
        ...stored,
        object: { type: 'webhook', id: 'w1' },
      });
      record!.isStored = true;
    });
    expect(appended).toEqual({ ok: true, recorded: [] });
  });

  it('is a message when the command appends nothing', async () => {
    expect(await call(createWebhook, () => undefined)).toEqual({ ok: true, recorded: [['add', message]] });
  });

  it('is acknowledged before the answer where the operation has effects outside its append', async () => {
    const { recorded } = await call(deleteUser, () => undefined);
    expect(recorded).toEqual([
      ['write', expect.objectContaining({ prefix: 'USER_DELETE', object: { type: 'user', id } })],
    ]);
  });

  it('names the tenant of a management call', async () => {
    const caller = { kind: 'management', clientId: 'm' };
    const { recorded } = await call(updateClient, () => undefined, { caller, tenant: undefined });
    const object = { type: 'tenant-client', id: 'c1' };
    const expected = { isManagement: true, tenantId: 'platform', about: id, clientId: 'm', object };
    expect(recorded).toEqual([['add', expect.objectContaining(expected)]]);
  });

  it('of a command that fails is left to the gateway', async () => {
    const failed = await call(createWebhook, () => {
      throw new Error('no');
    });
    expect(failed).toEqual({ ok: false, recorded: [] });
  });

  it('exists only for a command that the gateway records', async () => {
    expect((await call(createWebhook, () => undefined, { record: undefined })).recorded).toEqual([]);
    const queried = await call(retrieveWebhook, (context) => expect(eventContext(context, 't').record).toBeUndefined());
    expect(queried).toEqual({ ok: true, recorded: [] });
  });
});
