import { Inject } from '@nestjs/common';
import {
  pushAuthorization,
  type HolderContext,
  type PushedAuthorizationResponse,
  type RawRequest,
} from '@attestry/contracts';
import type { Clock } from '@attestry/event-store';
import {
  CLOCK,
  LOGGER,
  Operation,
  OperationRecorder,
  PlatformConfig,
  type Logger,
  type RequestOf,
} from '@attestry/service-kit';
import { parseAuthorizationRequest, parseClient } from '../authorization-request/parse-authorization-request.js';
import { PUSHED_SECONDS, PushedAuthorizations } from '../authorization-request/pushed-authorizations.js';
import { redirectPolicyOf, type RedirectPolicy } from '../authorization-request/redirect-policy.js';
import { requestedEntries } from '../authorization-request/requested-entries.js';
import { checkContentType } from '../protocol/check-content-type.js';
import { PublishedConfigurations } from '../protocol/published-configurations.js';
import { rawOf } from '../protocol/raw-request.js';
import { recordOutcome, type WalletRecord } from '../protocol/record-outcome.js';
import { findRegisteredWallet } from '../wallets/find-registered-wallet.js';
import { TenantWallets } from '../wallets/tenant-wallets.js';
import { checkDpop } from './check-dpop.js';
import { checkParametersLocation } from './check-parameters-location.js';
import { checkSize } from './check-size.js';

/** Pushed authorization request endpoint, RFC 9126 §2: the checks of the authorization endpoint, before the browser is involved. */
@Operation(pushAuthorization)
export class PushAuthorization {
  private readonly policy: RedirectPolicy;

  constructor(
    private readonly configurations: PublishedConfigurations,
    private readonly pushed: PushedAuthorizations,
    private readonly wallets: TenantWallets,
    readonly recorder: OperationRecorder,
    @Inject(LOGGER) readonly logger: Logger,
    @Inject(CLOCK) readonly clock: Clock,
    config: PlatformConfig,
  ) {
    this.policy = redirectPolicyOf(config);
  }

  execute(request: RequestOf<typeof pushAuthorization>, context: HolderContext): Promise<PushedAuthorizationResponse> {
    return recordOutcome(this, pushAuthorization, context, (record) => this.push(rawOf(request), context, record));
  }

  private async push(
    raw: RawRequest,
    { tenant: { id: tenantId, baseUrl: issuer } }: HolderContext,
    record: WalletRecord,
  ): Promise<PushedAuthorizationResponse> {
    checkContentType(raw);
    checkParametersLocation(raw);
    const form = new URLSearchParams(raw.text);
    const parameters = form.toString();
    checkSize(parameters);
    const { clientId } = parseClient(form, this.policy);
    const wallet = findRegisteredWallet(await this.wallets.listWallets(tenantId), clientId);
    if (wallet) record.nameWallet(wallet);
    checkDpop(raw);
    const parsed = parseAuthorizationRequest(form, issuer);
    // The result is not stored: it is computed again when the reference is opened.
    requestedEntries(parsed, await this.configurations.listActive(tenantId));
    return { request_uri: await this.pushed.store(tenantId, parameters), expires_in: PUSHED_SECONDS };
  }
}
