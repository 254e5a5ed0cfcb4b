import { retrieveClientKeys, type ProviderClientKeySet, type PublicContext } from '@attestry/contracts';
import { Operation } from '@attestry/service-kit';
import { ClientKeys } from '../client-keys/client-keys.js';

@Operation(retrieveClientKeys)
export class RetrieveClientKeys {
  constructor(private readonly keys: ClientKeys) {}

  execute(_request: unknown, { tenant }: PublicContext): Promise<ProviderClientKeySet> {
    return this.keys.keySet(tenant.id);
  }
}
