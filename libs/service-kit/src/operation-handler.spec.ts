import { createWebhook, type OperationContext, type OperationRequest, type ServiceName } from '@attestry/contracts';
import { createLogger } from './logger.js';
import { operationHandler } from './operation-handler.js';

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
    requestId: 'r',
    operation: createWebhook.name,
    deadline: 0,
    publicUrl: 'http://a',
  });
  const wrong = { params: {}, query: {}, body: { events: [] } };
  const gateway = contextFor({ kind: 'client', clientId: 'c', roles: ['issuer'] });
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
    const own = contextFor({ kind: 'service', service: other });
    expect(await handle(wrong, own, other, true)).toMatchObject({ ok: false, error: { kind: 'forbidden' } });
    expect(ran).toEqual([]);
  });
});
