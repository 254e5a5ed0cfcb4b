import { Inject, Injectable } from '@nestjs/common';
import { Streams, type Clock, type EventContext, type Fence } from '@attestry/event-store';
import { SigningKeys, type Decrypter } from '@attestry/keys';
import { CLOCK } from '@attestry/service-kit';
import { NewKeys } from '../new-keys/new-keys.js';
import { RecentStates } from '../../reading/recent-states/recent-states.js';
import { createKey, destroyReplacedKeys, isKeyAccepted, isKeyDue } from './encryption-keys.decisions.js';
import type { EncryptionKey } from './encryption-keys.events.js';
import { encryptionKeys, encryptionKeysStream } from './encryption-keys.state.js';

/** Keys to which wallets encrypt credential requests of a tenant (ADR 0088). */
@Injectable()
export class EncryptionKeys {
  constructor(
    private readonly streams: Streams,
    private readonly recent: RecentStates,
    private readonly newKeys: NewKeys,
    private readonly signingKeys: SigningKeys,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  /** Makes the tenant's first key unless it has one. Replacing it is left to the job. */
  async ensure(tenantId: string, context: EventContext): Promise<void> {
    const { state } = await this.streams.load(encryptionKeys, encryptionKeysStream(tenantId));
    if (!state.length) await this.renew(tenantId, context);
  }

  /**
   * Makes the tenant's first key, or another one when the newest is due.
   * @param fence of the lease under which it is made
   * @throws StaleEpoch when that was lost; KeyNotFound when the tenant was deleted
   */
  async renew(tenantId: string, context: EventContext, fence?: Fence): Promise<void> {
    await this.newKeys.runDecision(
      {
        purpose: 'encryption',
        aggregate: encryptionKeys,
        stream: encryptionKeysStream(tenantId),
        decide: async ({ state }, createKeys) => {
          const now = this.clock.now();
          if (!isKeyDue(state, now)) return [];
          const [key] = await createKeys(1);
          const { x, y } = key!.publicJwk;
          return createKey(state, { keyId: key!.keyId, x, y: y!, now });
        },
        keysOf: (state) => state.map(({ keyId }) => keyId),
      },
      context,
      { fence },
    );
  }

  /**
   * Destroys keys that are no longer accepted. First in the vault: after a failure the next run destroys them again, which is no error, and
   * appends.
   * @throws StaleEpoch when the lease was lost
   */
  async destroyReplacedKeys(tenantId: string, context: EventContext, fence: Fence): Promise<void> {
    await this.streams.runDecision(
      encryptionKeys,
      encryptionKeysStream(tenantId),
      async (state) => {
        const destroyed = destroyReplacedKeys(state, this.clock.now());
        const keyIds = destroyed.map(({ data }) => data.keyId);
        if (keyIds.length) await this.signingKeys.destroySigningKeys(tenantId, keyIds);
        return destroyed;
      },
      context,
      { fence },
    );
  }

  /** The newest; undefined before the first credential configuration. Public parts only: no key is opened. */
  async findPublished(tenantId: string): Promise<EncryptionKey | undefined> {
    return (await this.recent.load(encryptionKeys, encryptionKeysStream(tenantId))).state.at(-1);
  }

  /** Undefined unless requests encrypted to that key of this tenant are accepted. */
  async findDecrypter(tenantId: string, keyId: string): Promise<Decrypter | undefined> {
    const stream = encryptionKeysStream(tenantId);
    const now = this.clock.now();
    let loaded = await this.recent.load(encryptionKeys, stream);
    // Another process may just have made the key.
    if (loaded.cached && !isKeyAccepted(loaded.state, keyId, now))
      loaded = await this.recent.reload(encryptionKeys, stream);
    return isKeyAccepted(loaded.state, keyId, now) ? this.signingKeys.loadDecrypter(tenantId, keyId) : undefined;
  }
}
