import { pushAuthorization, type PushedAuthorizationResponse } from '@attestry/contracts';
import { Operation } from '@attestry/service-kit';
import { checkContentType } from '../../reading/raw-request/check-content-type.js';
import { dpopError } from '../../wallets/dpop/dpop-proofs.js';
import { TenantWallets } from '../../wallets/registered-wallets/tenant-wallets.js';
import { WalletClients } from '../../wallets/wallet-clients/wallet-clients.js';
import type { WalletCall } from '../../wallets/wallet-endpoints/wallet-call.js';
import { WalletEndpoints, type ServedBy } from '../../wallets/wallet-endpoints/wallet-endpoints.js';
import { AuthorizationRequests } from '../authorization-request/authorization-requests.js';
import { parseClient } from '../authorization-request/parse-authorization-request.js';
import { PUSHED_SECONDS, PushedAuthorizations } from '../authorization-request/pushed-authorizations.js';
import { checkParametersLocation } from './check-parameters-location.js';
import { checkSize } from './check-size.js';

const STEPS = [checkContentType, checkParametersLocation] as const;

/** Pushed authorization request endpoint, RFC 9126 §2: the checks of the authorization endpoint, before the browser is involved. */
@Operation(pushAuthorization)
export class PushAuthorization {
  readonly execute: ServedBy<typeof pushAuthorization>;

  constructor(
    endpoints: WalletEndpoints,
    private readonly wallets: TenantWallets,
    private readonly clients: WalletClients,
    private readonly requests: AuthorizationRequests,
    private readonly pushed: PushedAuthorizations,
  ) {
    this.execute = endpoints.serve(pushAuthorization, STEPS, this);
  }

  async answer(call: WalletCall): Promise<PushedAuthorizationResponse> {
    const { tenant, record } = call;
    const form = new URLSearchParams(call.text);
    checkSize(form.toString());
    const classified = await this.wallets.classifyClient(tenant.id, parseClient(form), true);
    const wallet = classified.kind === 'registered' ? classified.wallet : undefined;
    if (wallet) record.nameWallet(wallet);
    const client = await this.clients.prove(call, call.operation, tenant, wallet);
    const { proof, instanceJkt } = client;
    if (instanceJkt !== undefined) record.proveCaller();
    // The requested entries are not stored: they are computed again when the reference is opened.
    const { parsed } = await this.requests.check(form, tenant, wallet);
    if (proof) {
      // RFC 9449 §10.1: a proof binds the code to its key as `dpop_jkt` does.
      if (parsed.dpopJkt !== undefined && parsed.dpopJkt !== proof.jkt)
        throw dpopError('the DPoP proof must be made with the key that dpop_jkt names');
      form.set('dpop_jkt', proof.jkt);
      checkSize(form.toString());
    }
    await this.clients.spend(tenant.id, client);
    const requestUri = await this.pushed.store(tenant.id, form.toString(), instanceJkt);
    return { request_uri: requestUri, expires_in: PUSHED_SECONDS };
  }
}
