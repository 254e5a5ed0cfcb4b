import { Injectable } from '@nestjs/common';
import type { ClaimSource } from '@attestry/contracts';
import { isErased, Sealing } from '@attestry/keys';
import { mask, sealIdempotently, type SealedForNew } from '@attestry/service-kit';
import type { ConfiguredSource, SourceAuthorization } from './claim-sources.events.js';
import type { RequestedAuthorization } from './claim-sources.decisions.js';

/** Keys and secrets of claims sources, each under a data key with the id of the source. */
@Injectable()
export class SourceSecrets {
  constructor(private readonly sealing: Sealing) {}

  async seal(tenantId: string, sourceId: string, secret: string): Promise<string> {
    await this.sealing.createDataKey(tenantId, 'tenant', sourceId);
    return this.sealing.sealText(tenantId, 'tenant', sourceId, secret);
  }

  /** {@link seal} for a source that an earlier attempt of the call may have created. */
  sealForNew(tenantId: string, sourceId: string, secret: string): Promise<SealedForNew> {
    return sealIdempotently(this.sealing, tenantId, 'tenant', sourceId, secret);
  }

  /** Undefined when its key was destroyed: the source was deleted. */
  async openSecret(
    tenantId: string,
    { sealedSecret }: Pick<SourceAuthorization, 'sealedSecret'>,
  ): Promise<string | undefined> {
    const secret = await this.sealing.openSealed(tenantId, 'tenant', sealedSecret);
    return isErased(secret) ? undefined : secret;
  }

  destroy(tenantId: string, sourceId: string): Promise<void> {
    return this.sealing.destroyDataKeys(tenantId, [sourceId]);
  }

  /** A source as the API shows it. */
  async viewOf(tenantId: string, { authorization, ...source }: ConfiguredSource): Promise<ClaimSource> {
    if (!authorization) return source;
    const masked = mask((await this.openSecret(tenantId, authorization)) ?? '');
    if (authorization.type === 'api-key')
      return { ...source, authorization: { type: authorization.type, value: masked } };
    const { sealedSecret: _, ...shown } = authorization;
    return { ...source, authorization: { ...shown, clientSecret: masked } };
  }
}

/** Stored form. */
export const sealedAuthorization = (
  { secret: _, ...members }: RequestedAuthorization,
  sealedSecret: string,
): SourceAuthorization => ({ ...members, sealedSecret });
