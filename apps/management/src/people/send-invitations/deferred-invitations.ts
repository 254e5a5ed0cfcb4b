import { Inject, Injectable } from '@nestjs/common';
import { unavailable } from '@attestry/contracts';
import type { Clock } from '@attestry/event-store';
import { ExpiringState, isErased, PLATFORM } from '@attestry/keys';
import { CLOCK } from '@attestry/service-kit';
import type { MemberInvitedData } from '../../tenants/tenant/tenant.events.js';

/** Must not change: the list is stored under this name with the keys. */
const NAME = 'deferred invitations';
const MAX_DEFERRED = 1000;
/** Limit for one tenant, whose recipients must not fill the list. */
const MAX_PER_TENANT = 100;
const FIRST_PAUSE_MS = 30_000;
const LONGEST_PAUSE_MS = 3_600_000;
/** The list outlives its invitations until the last retry has destroyed the key of an expired one. */
const RETENTION_MS = 86_400_000;
const MOST_TRIES = 10;

/** Input of an e-mail; the secret stays sealed under its own key. */
export type DeferredInvitation = Pick<
  MemberInvitedData,
  'tenantId' | 'userId' | 'invitationId' | 'sealedSecret' | 'expiresAt'
> & {
  tries: number;
  /** Milliseconds since the epoch. */
  nextTryAt: number;
};

/**
 * Invitations whose recipient the mail server defers. They are retried apart from the subscription, which continues with the others. The
 * list is stored with the keys, so that it survives the process after the checkpoint has advanced.
 */
@Injectable()
export class DeferredInvitations {
  constructor(
    private readonly state: ExpiringState,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  /** @returns false when there are too many */
  async add({ tenantId, userId, invitationId, sealedSecret, expiresAt }: MemberInvitedData): Promise<boolean> {
    let isAdded = false;
    await this.change((deferred, now) => {
      const others = deferred.filter((it) => it.invitationId !== invitationId);
      const ofTenant = others.filter((it) => it.tenantId === tenantId);
      isAdded = others.length < MAX_DEFERRED && ofTenant.length < MAX_PER_TENANT;
      const nextTryAt = now + FIRST_PAUSE_MS;
      const added = { tenantId, userId, invitationId, sealedSecret, expiresAt, tries: 1, nextTryAt };
      return isAdded ? [...others, added] : others;
    });
    return isAdded;
  }

  async due(): Promise<DeferredInvitation[]> {
    const { deferred } = await this.stored();
    const now = this.clock.now().getTime();
    return deferred.filter(({ nextTryAt }) => nextTryAt <= now);
  }

  /** Schedules the next retry, with a pause twice as long as the previous one. */
  async postpone({ invitationId }: DeferredInvitation): Promise<void> {
    await this.change((deferred, now) =>
      deferred.map((it) => {
        if (it.invitationId !== invitationId) return it;
        const pauseMs = Math.min(FIRST_PAUSE_MS * 2 ** it.tries, LONGEST_PAUSE_MS);
        return { ...it, tries: it.tries + 1, nextTryAt: now + pauseMs };
      }),
    );
  }

  async remove({ invitationId }: DeferredInvitation): Promise<void> {
    await this.change((deferred) => deferred.filter((it) => it.invitationId !== invitationId));
  }

  private async change(
    decide: (deferred: readonly DeferredInvitation[], now: number) => DeferredInvitation[],
  ): Promise<void> {
    for (let tries = 1; tries <= MOST_TRIES; tries++) {
      const { deferred, version } = await this.stored();
      const changed = decide(deferred, this.clock.now().getTime());
      if (!changed.length) {
        if (version === undefined) return;
        await this.state.delete(PLATFORM, NAME, version);
        const { version: left } = await this.stored();
        if (left === undefined) return;
        continue;
      }
      const expiresAt = Math.max(...changed.map((it) => Date.parse(it.expiresAt))) + RETENTION_MS;
      const options = { after: version, expiresAt };
      if (await this.state.write(PLATFORM, NAME, JSON.stringify(changed), options)) return;
    }
    throw unavailable('Service temporarily unavailable', new Error('the deferred invitations could not be stored'));
  }

  private async stored(): Promise<{ deferred: DeferredInvitation[]; version: string | undefined }> {
    const found = await this.state.read(PLATFORM, NAME);
    if (isErased(found) || !found) return { deferred: [], version: undefined };
    return { deferred: JSON.parse(found.text) as DeferredInvitation[], version: found.version };
  }
}
