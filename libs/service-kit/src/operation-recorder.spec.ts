import type { Operation, OperationContext } from '@attestry/contracts';
import { randomIds, systemClock } from '@attestry/event-store';
import type { MessageBus } from '@attestry/messaging';
import { OperationRecorder } from './operation-recorder.js';

const operation = {
  name: 'dids.create-did',
  analytics: { prefix: 'DID_CREATE', category: 'did' },
} as unknown as Operation;
const context = (deadline: number) =>
  ({ caller: { kind: 'public' }, requestId: 'r1', deadline }) as unknown as OperationContext;
const recorderOn = (publish: () => Promise<void>) =>
  new OperationRecorder({ publish } as unknown as MessageBus, systemClock, randomIds, 'gateway');

describe('the recorder of operation events', () => {
  it('waits for the broker no longer than the deadline of the call', async () => {
    const silent = recorderOn(() => new Promise(() => {}));
    const began = performance.now();
    await expect(silent.start(operation, context(Date.now() + 700))).rejects.toThrow('not acknowledged');
    const took = performance.now() - began;
    expect(took).toBeGreaterThan(500);
    expect(took).toBeLessThan(5000);
  });

  it('allows an outcome a short time after the deadline', async () => {
    const slow = recorderOn(() => new Promise((resolve) => setTimeout(resolve, 50)));
    await slow.success(operation, context(Date.now() - 1000));
  });
});
