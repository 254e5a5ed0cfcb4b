import { Inject, Injectable } from '@nestjs/common';
import {
  releaseIssuerKey,
  reserveIssuerKey,
  type ClientContext,
  type ReserveIssuerKeyRequest,
  type Warning,
} from '@attestry/contracts';
import { LOGGER, requestFields, ServiceClient, type Logger } from '@attestry/service-kit';
import type { SignerPolicy } from '../../formats/format.js';
import type { PinnedIssuerKey } from '../../settings/credential-configuration/credential-configuration.events.js';
import { TypeClaims, type TypeOwner } from '../type-claims/type-claims.js';

const ANY_ALGORITHM: PinnedIssuerKey['algorithm'][] = ['P-256', 'Ed25519'];

const UNPUBLISHED =
  'is on the verified domain of the tenant, but its DID document was not found there: credentials cannot be verified before it is published';

/** Claims of a new configuration: its type, and the DID that signs. */
@Injectable()
export class ConfigurationClaims {
  constructor(
    private readonly types: TypeClaims,
    private readonly client: ServiceClient,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {}

  /** Refuses a type that is taken, without claiming it. @throws AppError 400 */
  refuseTakenType(owner: TypeOwner): Promise<void> {
    return this.types.refuseTakenType(owner);
  }

  /** @throws AppError 400, `param: type` */
  claimType(owner: TypeOwner, context: ClientContext): Promise<void> {
    return this.types.claim(owner, context);
  }

  /** Where a certificate's key signs, only the DID that the request names. */
  async reserveKey(
    signer: SignerPolicy,
    configurationId: string,
    requested: Pick<ReserveIssuerKeyRequest, 'did' | 'member'>,
    context: ClientContext,
  ): Promise<{ issuerKey?: PinnedIssuerKey; warnings?: Warning[] }> {
    if (signer.kind !== 'pinnedKey' && requested.did === undefined) return {};
    const { algorithms, method } =
      signer.kind === 'pinnedKey' ? signer : { algorithms: ANY_ALGORITHM, method: undefined };
    const body = { algorithms, method, configurationId, ...requested };
    const { did, verificationMethod, kmsKeyId, algorithm, isUnpublished } = await this.client.call(
      reserveIssuerKey,
      { body },
      context,
    );
    const issuerKey = { did, verificationMethod, kmsKeyId, algorithm };
    const param = requested.member ?? 'issuerDid';
    return { issuerKey, ...(isUnpublished && { warnings: [{ param, msg: UNPUBLISHED }] }) };
  }

  /** Best effort: both are repaired later, and the caller must get the first error. */
  async giveBack(owner: TypeOwner, did: string | undefined, context: ClientContext): Promise<void> {
    const released = await Promise.allSettled([
      this.types.release(owner, context),
      did !== undefined &&
        this.client.call(
          releaseIssuerKey,
          { body: { tenantId: owner.tenantId, did, configurationId: owner.owner } },
          context,
        ),
    ]);
    for (const outcome of released)
      if (outcome.status === 'rejected')
        this.logger.warn(
          { ...requestFields(context), cause: String(outcome.reason) },
          'claims not released after a refused creation',
        );
  }
}
