import { exchangeToken, type AccessTokenResponse } from '@attestry/contracts';
import { Operation } from '@attestry/service-kit';
import { checkContentType } from '../../reading/raw-request/check-content-type.js';
import { haipTokenRequest } from '../../wallets/haip-profile/haip-steps.js';
import { authenticateClient } from '../../wallets/wallet-clients/authenticate-client.js';
import type { After } from '../../wallets/wallet-endpoints/wallet-call.js';
import { WalletEndpoints, type ServedBy } from '../../wallets/wallet-endpoints/wallet-endpoints.js';
import { checkParametersLocation } from './check-parameters-location.js';
import { CodeGrant } from './code-grant.js';
import { checkClientOfGrant, loadGrant } from './load-grant.js';
import { readTokenRequest } from './read-token-request.js';
import { RefreshGrant } from './refresh-grant.js';

const STEPS = [
  checkContentType,
  checkParametersLocation,
  readTokenRequest,
  loadGrant,
  authenticateClient, // before the code: a request whose proof fails spends nothing and counts as no attempt
  checkClientOfGrant,
  haipTokenRequest,
] as const;

/** Token endpoint, OID4VCI §6. */
@Operation(exchangeToken)
export class ExchangeToken {
  readonly execute: ServedBy<typeof exchangeToken>;

  constructor(
    endpoints: WalletEndpoints,
    private readonly codeGrant: CodeGrant,
    private readonly refreshGrant: RefreshGrant,
  ) {
    this.execute = endpoints.serve(exchangeToken, STEPS, this);
  }

  answer(call: After<typeof STEPS>): Promise<AccessTokenResponse> {
    const { grant } = call;
    return grant.kind === 'refreshToken'
      ? this.refreshGrant.refresh(call, grant)
      : this.codeGrant.exchange(call, grant);
  }
}
