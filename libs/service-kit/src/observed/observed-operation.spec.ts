import type { OperationContext, OperationRequest } from '@attestry/contracts';
import type { Reply } from '@attestry/messaging';
import { Metrics } from '../metrics/metrics.js';
import type { Tracing } from '../tracing/tracing.js';
import { observedOperation } from './observed-operation.js';

describe('an observed operation', () => {
  it('is in flight until its reply, whatever that is', async () => {
    const metrics = new Metrics('issuance');
    const inFlight = async () => /^attestry_operations_in_flight (\d+)$/m.exec(await metrics.text())?.[1];
    const waiting: PromiseWithResolvers<Reply>[] = [];
    const handler = () => waiting[waiting.push(Promise.withResolvers<Reply>()) - 1]!.promise;
    const observed = observedOperation('IssueCredential', handler, metrics, { on: false } as Tracing);
    const call = () => observed({} as OperationRequest, {} as OperationContext, 'gateway', true);
    expect(await inFlight()).toBe('0');
    const calls = [call(), call(), call()];
    expect(await inFlight()).toBe('3');
    waiting[0]!.resolve({ ok: true, data: {} });
    waiting[1]!.resolve({ ok: false, error: { kind: 'unavailable', code: 'Unavailable', message: '' } });
    waiting[2]!.reject(new Error('a defect'));
    await Promise.allSettled(calls);
    expect(await inFlight()).toBe('0');
  });
});
