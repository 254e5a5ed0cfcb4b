import { createWebhook, type OperationContext, type OperationRequest, type ServiceName } from '@attestry/contracts';
import { createLogger } from './logger.js';
import { operationHandler } from './operation-handler.js';
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
  const headersFor = (caller: OperationContext['caller']) =>
    contextToHeaders(createWebhook, {
      caller,
      tenant: { id: 't', host: 'a', baseUrl: 'http://a' },
      requestId: 'r',
      operation: createWebhook.name,
      deadline: Date.now() + 60_000,
    });
  const wrong = { params: {}, query: {}, body: { events: [] } };
  const gateway = headersFor({ kind: 'client', clientId: 'c' });
  beforeEach(() => ran.splice(0));

  it('is checked where they enter the process', async () => {
    expect(await handle(wrong, gateway, 'gateway', false)).toMatchObject({ ok: false, error: { kind: 'invalid' } });
    expect(ran).toEqual([]);
  });

  it('is not checked again in the process that has checked it', async () => {
    expect(await handle(wrong, gateway, 'gateway', true)).toMatchObject({ ok: true });
    expect(ran).toEqual([wrong]);
  });

  it('does not make a caller of one who is none', async () => {
    const other: ServiceName = 'dids';
    const own = headersFor({ kind: 'service', service: other });
    expect(await handle(wrong, own, other, true)).toMatchObject({ ok: false, error: { kind: 'forbidden' } });
    expect(ran).toEqual([]);
  });
});
