import type { TenantServiceContext } from '@attestry/contracts';
import type { Aggregate, Streams } from '@attestry/event-store';
import { CheckCredentialConfiguration } from './check-credential-configuration.js';

describe('check-credential-configuration', () => {
  const id = '11111111-1111-4111-8111-111111111111';
  const check = async (status: string) => {
    const load = async (_aggregate: Aggregate<object, never>, stream: string) => ({
      state: { status: stream === `credentialConfiguration-t1+${id}` ? status : 'active' },
    });
    const useCase = new CheckCredentialConfiguration({ load } as unknown as Streams);
    const request = { params: {}, query: {}, body: { configurationId: id } };
    return useCase.execute(request as never, { tenant: { id: 't1' } } as TenantServiceContext);
  };

  it('finds the active configuration of the tenant and no other', async () => {
    expect(await check('active')).toEqual({ exists: true });
    for (const status of ['absent', 'deleted']) expect(await check(status)).toEqual({ exists: false });
  });
});
