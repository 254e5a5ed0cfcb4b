import { Injectable } from '@nestjs/common';
import { Macs, ReplayGuard } from '@attestry/keys';
import { PlatformConfig } from '@attestry/service-kit';
import { Formats } from '../../formats/formats.js';
import { checkIssuerDomain } from '../../issuer/issuer-domain/check-issuer-domain.js';
import { WithdrawnDomains } from '../../issuer/issuer-domain/withdrawn-domains.directory.js';
import { IssuerNames } from '../../issuer/issuer-names/issuer-names.js';
import { CurrentConfigurations } from '../../settings/credential-configuration/current-configurations.js';
import type { PresentedToken } from '../../token/access-token/presented-token.js';
import type { DpopProof } from '../../wallets/dpop/dpop-proof.js';
import type { WalletCall } from '../../wallets/wallet-endpoints/wallet-call.js';
import { checkIssuanceLimit } from '../credential-issuer/check-issuance-limit.js';
import type { CredentialOrder } from '../credential-issuer/credential-order.js';
import type { OpenedRequest } from '../message-encryption/message-encryption.js';
import { checkConfiguration } from './check-configuration.js';
import { parseCredentialRequest } from './parse-credential-request.js';
import { spendNonce } from './spend-nonce.js';
import { verifyProofs } from './verify-proofs.js';

/** Credential requests, OID4VCI §8.2: the checks of a body in their order. */
@Injectable()
export class CredentialRequests {
  constructor(
    private readonly configurations: CurrentConfigurations,
    private readonly formats: Formats,
    private readonly withdrawn: WithdrawnDomains,
    private readonly names: IssuerNames,
    private readonly macs: Macs,
    private readonly guard: ReplayGuard,
    private readonly config: PlatformConfig,
  ) {}

  /** The credentials that the body requests, and how the response is encrypted. @throws AppError */
  async check(call: WalletCall & PresentedToken & { proof?: DpopProof }, opened: OpenedRequest) {
    const { tenant, session, now, record, proof } = call;
    const requested = parseCredentialRequest(opened, session.authorizationDetails !== undefined);
    const covered = await checkConfiguration(session, requested.selector, tenant.id, this.configurations);
    const { configuration, credentialIdentifier } = covered;
    record.addMetadata({ credentialConfigurationId: configuration.id });
    const { resources, proofAlgorithms } = this.formats.byName[configuration.format];
    const certifiedIssuer = resources.signer.kind === 'pinnedKey' ? undefined : session.issuer;
    await checkIssuerDomain(configuration, certifiedIssuer, tenant, this.withdrawn);
    const expected = {
      issuer: tenant.baseUrl,
      isOtherName: (name: string) => this.names.includes(tenant, name, session.issuer),
      ...(session.origin.kind === 'authorizationRequest' && { clientId: session.origin.clientId }),
      tenantId: tenant.id,
      now,
      windowSeconds: this.config.proofWindowSeconds,
      algorithms: proofAlgorithms,
    };
    const { holders, nonces } = await verifyProofs(requested.proofs, configuration.content, expected, this.macs);
    checkIssuanceLimit(session, configuration, holders.length, now);
    call.spending = spendNonce(nonces, tenant.id, this.guard, proof);
    const order: CredentialOrder = { ...call, configuration, holders, credentialIdentifier };
    return { order, responseEncryption: requested.responseEncryption };
  }
}
