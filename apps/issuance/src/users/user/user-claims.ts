import { Inject, Injectable } from '@nestjs/common';
import type { User, UserLink } from '@attestry/contracts';
import { ERASED, isErased, KeyNotFound, Sealing, type Erased } from '@attestry/keys';
import { LOGGER, type Logger } from '@attestry/service-kit';

export interface SealedUser {
  id: string;
  sealedClaims?: string | null;
  sealedLink?: string | null;
}

/** Claims of users, decrypted with the user's own data key (ADR 0058). */
@Injectable()
export class UserClaims {
  constructor(
    private readonly sealing: Sealing,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {}

  /** A user as the API shows them; ERASED when the key is destroyed. */
  async viewOf(tenantId: string, { id, sealedClaims, sealedLink }: SealedUser): Promise<User | Erased> {
    const [claims, link] = await Promise.all([
      this.openSealedClaims(tenantId, sealedClaims),
      sealedLink === null || sealedLink === undefined ? undefined : this.openSealedClaims(tenantId, sealedLink),
    ]);
    if (isErased(claims)) return claims;
    if (isErased(link)) return link;
    return { id, claims, ...(link && { authenticationProvider: link as unknown as UserLink }) };
  }

  /** A user without sealed claims has none; ERASED when the key is destroyed. */
  async openSealedClaims(
    tenantId: string,
    sealed: string | null | undefined,
  ): Promise<Record<string, unknown> | Erased> {
    if (sealed === null || sealed === undefined) return {};
    try {
      const text = await this.sealing.openSealed(tenantId, 'user', sealed);
      return isErased(text) ? text : (JSON.parse(text) as Record<string, unknown>);
    } catch (error) {
      if (!(error instanceof KeyNotFound)) throw error;
      // The key never became durable, so the creation was never acknowledged; and no list may fail because of it.
      this.logger.warn({ tenantId, keyId: error.keyId }, 'key of claims missing');
      return ERASED;
    }
  }
}
