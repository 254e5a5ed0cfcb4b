import { issueDeferredCredential, oauthError, type CredentialResponse, type HttpAnswer } from '@attestry/contracts';
import { Operation } from '@attestry/service-kit';
import { Formats } from '../../formats/formats.js';
import { checkIssuerDomain } from '../../issuer/issuer-domain/check-issuer-domain.js';
import { WithdrawnDomains } from '../../issuer/issuer-domain/withdrawn-domains.directory.js';
import { invalidTransactionId } from '../../sessions/issuance-session/deferred-issuance.decisions.js';
import type { OpenDeferral } from '../../sessions/issuance-session/issuance-session.decisions.js';
import { CurrentConfigurations } from '../../settings/credential-configuration/current-configurations.js';
import { checkAccessTokenLocation } from '../../token/access-token/check-access-token-location.js';
import { checkTokenBinding, spendProof } from '../../token/access-token/check-token-binding.js';
import { loadAccessTokenOfAnyAge } from '../../token/access-token/load-access-token.js';
import { requireCurrent, requireCurrentOrDeferred } from '../../token/access-token/presented-token.js';
import { haipSession } from '../../wallets/haip-profile/haip-steps.js';
import { walletOfSession } from '../../wallets/wallet-clients/wallet-of-session.js';
import type { After } from '../../wallets/wallet-endpoints/wallet-call.js';
import { WalletEndpoints, type ServedBy } from '../../wallets/wallet-endpoints/wallet-endpoints.js';
import { CredentialIssuer } from '../credential-issuer/credential-issuer.js';
import { deferredAnswer, deferredResponse, DeferredIssuances } from '../deferred-issuance/deferred-issuances.js';
import { checkContentType } from '../message-encryption/check-content-type.js';
import { encryptAnswer, MessageEncryption } from '../message-encryption/message-encryption.js';
import { DeferredRights } from './deferred-rights.js';
import { parseDeferredRequest } from './parse-deferred-request.js';

const STEPS = [
  checkContentType,
  checkAccessTokenLocation,
  loadAccessTokenOfAnyAge,
  checkTokenBinding,
  spendProof,
  walletOfSession,
  haipSession,
  requireCurrentOrDeferred,
] as const;
type Call = After<typeof STEPS>;

/** Deferred credential endpoint, OID4VCI 1.0 §9: claims are gathered, and credentials made, when the wallet asks (ADR 0092). */
@Operation(issueDeferredCredential)
export class IssueDeferredCredential {
  readonly execute: ServedBy<typeof issueDeferredCredential>;

  constructor(
    endpoints: WalletEndpoints,
    private readonly encryption: MessageEncryption,
    private readonly deferred: DeferredIssuances,
    private readonly rights: DeferredRights,
    private readonly configurations: CurrentConfigurations,
    private readonly formats: Formats,
    private readonly withdrawn: WithdrawnDomains,
    private readonly issuer: CredentialIssuer,
  ) {
    this.execute = endpoints.serve(issueDeferredCredential, STEPS, this);
  }

  async answer(call: Call): Promise<CredentialResponse | HttpAnswer> {
    const { tenant, session, now, record } = call;
    const opened = await this.encryption.openRequest(call, tenant.id);
    const { transactionId, responseEncryption } = parseDeferredRequest(opened);
    const found = this.deferred.find(session, transactionId, tenant.id, now);
    // A token from a refresh may cover less than that of the credential request (§9).
    const covered = session.authorizationDetails ?? session.entries;
    const isCovered = (id: string) => covered.some(({ credentialConfigurationId }) => credentialConfigurationId === id);
    if (!found || found.status === 'completed' || !isCovered(found.credentialConfigurationId)) {
      requireCurrent(call);
      throw invalidTransactionId();
    }
    record.addMetadata({ deferralId: found.deferralId, credentialConfigurationId: found.credentialConfigurationId });
    const deferral = await this.rights.check(tenant.id, found, session, call.wallet);
    const issued = deferral.status === 'approved' ? await this.issue(deferral, call) : 'claimsNotReady';
    if (issued === 'claimsNotReady') return deferredAnswer(deferredResponse(transactionId), responseEncryption);
    return responseEncryption ? encryptAnswer(issued, responseEncryption) : issued;
  }

  private async issue(
    { deferralId, holders, credentialConfigurationId, credentialIdentifier }: OpenDeferral,
    call: Call,
  ): Promise<CredentialResponse | 'claimsNotReady'> {
    const { tenant, session } = call;
    const configuration = await this.configurations.find(tenant.id, credentialConfigurationId);
    if (!configuration)
      throw oauthError('credential_request_denied', 'the credential configuration was deleted', {
        check: 'issue-deferred-credential',
      });
    const { kind } = this.formats.byName[configuration.format].resources.signer;
    const certifiedIssuer = kind === 'pinnedKey' ? undefined : session.issuer;
    await checkIssuerDomain(configuration, certifiedIssuer, tenant, this.withdrawn);
    const { spending: _spent, ...unspent } = call;
    return this.issuer.issue({ ...unspent, configuration, holders, credentialIdentifier, deferralId });
  }
}
