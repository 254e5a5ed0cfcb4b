import type { OperationContext } from '@attestry/contracts';
import { systemClock } from '@attestry/event-store';
import type { PlatformConfig, ServiceClient } from '@attestry/service-kit';
import { TokenVerifier } from './token-verifier.js';

const config = { publicScheme: 'https', environments: [] } as unknown as PlatformConfig;

describe('the verifier of tokens', () => {
  it('asks for the keys within the deadline of the call that brought the token', async () => {
    const asked: OperationContext[] = [];
    const services = {
      call: (_operation: unknown, _request: unknown, context: OperationContext) => {
        asked.push(context);
        return Promise.resolve({ keys: [] });
      },
    } as unknown as ServiceClient;
    const deadline = Date.now() + 1234;
    expect(await new TokenVerifier(services, config, systemClock).verify('e30.e30.e30', deadline)).toBeUndefined();
    expect(asked.map((context) => context.deadline)).toEqual([deadline]);
  });
});
