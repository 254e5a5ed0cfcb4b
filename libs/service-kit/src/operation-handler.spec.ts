import { createWebhook, type OperationContext, type OperationRequest, type ServiceName } from '@attestry/contracts';
import type { BusContext } from '@attestry/messaging';
import { createLogger } from './logger.js';
import { messageHandler, operationHandler } from './operation-handler.js';
import { contextToHeaders } from './operation-headers.js';

describe('the shape of requests to a service', () => {
  const ran: OperationRequest[] = [];
  const useCase = {
    execute: async (request: OperationRequest) => {
      ran.push(request);
      return {};
    },
  };
  const handle = operationHandler(createWebhook, useCase, createLogger('silent'));
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
    await operationHandler(createWebhook, useCase, createLogger('info', { destination }))(
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
      }),
    ]);
  });
});
