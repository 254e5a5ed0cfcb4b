/** @engines embedded postgres */
import { createDid } from '@attestry/contracts';
import {
  describeIdempotency,
  type IdempotentCallOptions,
  ServiceUnderTest,
  stoppedClock,
} from '@attestry/testing/services';
import { didsService } from './index.js';

const TENANT = '30000000-0000-4000-8000-000000000001';
const service = new ServiceUnderTest(didsService, { clock: stoppedClock() });
let serial = 0;

beforeAll(() => service.open());
afterAll(() => service.remove());

const create = (method: string, options: object, { key, by: clientId = 'one' }: IdempotentCallOptions) =>
  service.admin(createDid, { body: { method, options } }, TENANT, {
    caller: { kind: 'client', clientId },
    idempotencyKey: key,
  });

describeIdempotency('creating a did:key', {
  service,
  category: 'did',
  made: 'DidCreated',
  thing: () => (call) => create('key', { keyType: call.other ? 'Ed25519' : 'P-256' }, call),
});

describeIdempotency('creating a did:web', {
  service,
  category: 'did',
  made: 'DidCreated',
  thing: () => {
    const url = `foreign${++serial}.example`;
    return (call) => create('web', { url: call.other ? `other.${url}` : url }, call);
  },
});
