import { retrieveTokenKeys, type JwkSet } from '@attestry/contracts';
import { Operation } from '@attestry/service-kit';
import { TokenKeys } from '../token-keys/token-keys.js';

@Operation(retrieveTokenKeys)
export class RetrieveTokenKeys {
  constructor(private readonly keys: TokenKeys) {}

  execute(): Promise<JwkSet> {
    return this.keys.jwks();
  }
}
