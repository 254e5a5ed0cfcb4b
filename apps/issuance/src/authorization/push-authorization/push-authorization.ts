import { Inject } from '@nestjs/common';
import {
  pushAuthorization,
  type HolderContext,
  type HttpAnswer,
  type PushedAuthorizationResponse,
  type RawRequest,
} from '@attestry/contracts';
import type { Clock } from '@attestry/event-store';
import { ReplayGuard } from '@attestry/keys';
import { CLOCK, LOGGER, Operation, OperationRecorder, type Logger, type RequestOf } from '@attestry/service-kit';
import { AuthorizationOffers } from '../../offers/authorization-offers/authorization-offers.js';
import { parseAuthorizationRequest, parseClient } from '../authorization-request/parse-authorization-request.js';
import { PUSHED_SECONDS, PushedAuthorizations } from '../authorization-request/pushed-authorizations.js';
import { requestedEntries } from '../authorization-request/requested-entries.js';
import { checkHaipAuthorization } from '../../wallets/haip-profile/check-haip.js';
import { IssuerNames } from '../../issuer/issuer-names/issuer-names.js';
import { checkContentType } from '../../reading/raw-request/check-content-type.js';
import { ClientAttestations, proofUsedError } from '../../wallets/client-attestation/client-attestations.js';
import { DpopProofs, dpopError, singleUseOf } from '../../wallets/dpop/dpop-proofs.js';
import { checkTarget } from '../../sessions/authorization-details/check-target.js';
import { PublishedConfigurations } from '../../settings/credential-configuration/published-configurations.js';
import { rawOf } from '../../reading/raw-request/raw-request.js';
import { recordOutcome, type WalletRecord } from '../../wallets/wallet-record/record-outcome.js';
import { checkDpopParameter } from '../../wallets/registered-wallets/check-wallet.js';
import { TenantWallets } from '../../wallets/registered-wallets/tenant-wallets.js';
import { checkParametersLocation } from './check-parameters-location.js';
import { checkSize } from './check-size.js';

/** Pushed authorization request endpoint, RFC 9126 §2: the checks of the authorization endpoint, before the browser is involved. */
@Operation(pushAuthorization)
export class PushAuthorization {
  constructor(
    private readonly configurations: PublishedConfigurations,
    private readonly offers: AuthorizationOffers,
    private readonly pushed: PushedAuthorizations,
    private readonly wallets: TenantWallets,
    private readonly dpop: DpopProofs,
    private readonly attestations: ClientAttestations,
    private readonly names: IssuerNames,
    private readonly guard: ReplayGuard,
    readonly recorder: OperationRecorder,
    @Inject(LOGGER) readonly logger: Logger,
    @Inject(CLOCK) readonly clock: Clock,
  ) {}

  execute(
    request: RequestOf<typeof pushAuthorization>,
    context: HolderContext,
  ): Promise<PushedAuthorizationResponse | HttpAnswer> {
    const raw = rawOf(request);
    const answer = recordOutcome(this, pushAuthorization, context, (record) => this.push(raw, context, record));
    return this.dpop.withNonce(raw, context.tenant.id, answer);
  }

  private async push(
    raw: RawRequest,
    { tenant }: HolderContext,
    record: WalletRecord,
  ): Promise<PushedAuthorizationResponse> {
    const { id: tenantId } = tenant;
    checkContentType(raw);
    checkParametersLocation(raw);
    const form = new URLSearchParams(raw.text);
    checkSize(form.toString());
    const client = await this.wallets.classifyClient(tenantId, parseClient(form), true);
    const wallet = client.kind === 'registered' ? client.wallet : undefined;
    if (wallet) record.nameWallet(wallet);
    const proof = await this.dpop.verifyProof(raw, pushAuthorization, tenant);
    const attested = wallet ? await this.attestations.authenticate(raw, wallet, proof, tenant) : undefined;
    if (attested) record.proveCaller();
    const parsed = parseAuthorizationRequest(form);
    await checkTarget(parsed, tenant.baseUrl, (name) => this.names.includes(tenant, name));
    checkHaipAuthorization(await this.wallets.readSettings(tenantId), parsed);
    checkDpopParameter(wallet, parsed.dpopJkt);
    // The result is not stored: it is computed again when the reference is opened.
    const named = requestedEntries(parsed, await this.configurations.listActive(tenantId));
    await this.offers.restrictRequest(tenantId, parsed, named);
    if (proof) {
      // RFC 9449 §10.1: a proof binds the code to its key as `dpop_jkt` does.
      if (parsed.dpopJkt !== undefined && parsed.dpopJkt !== proof.jkt)
        throw dpopError('the DPoP proof must be made with the key that dpop_jkt names');
      form.set('dpop_jkt', proof.jkt);
      checkSize(form.toString());
    }
    const possession = attested?.spends ?? [];
    const spent = [...possession, ...(proof ? [singleUseOf(proof)] : [])];
    if (spent.length > 0 && !(await this.guard.spendAll(tenantId, spent)))
      throw proofUsedError({ hasPop: possession.length > 0, hasDpop: proof !== undefined });
    const requestUri = await this.pushed.store(tenantId, form.toString(), attested?.instanceJkt);
    return { request_uri: requestUri, expires_in: PUSHED_SECONDS };
  }
}
