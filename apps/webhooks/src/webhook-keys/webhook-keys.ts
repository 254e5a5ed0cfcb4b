import { Inject, Injectable } from '@nestjs/common';
import {
  publishedAt,
  signingKeyAt,
  type PublishedKey,
  type WebhookKeyRotation,
  type WebhookKeySet,
} from '@attestry/contracts';
import { Streams, withoutRecord, type Clock, type EventContext } from '@attestry/event-store';
import { KeyNotFound, SigningKeys, successorId, type Signer } from '@attestry/keys';
import { CLOCK, PlatformConfig } from '@attestry/service-kit';
import { LRUCache } from 'lru-cache';
import { chooseKey, retireKeys, rotateKey } from './webhook-keys.decisions.js';
import { webhookKeys, webhookKeysStream, type WebhookKeysState } from './webhook-keys.state.js';

/**
 * How long a tenant's keys are cached, milliseconds. A rotation by another process is read before its key signs, and a key is published far
 * longer than this after it last signed.
 */
const REMEMBERED_MS = 60_000;

/** The Ed25519 keys that sign a tenant's webhooks: created on first use, by the first webhook or the first reader. */
@Injectable()
export class WebhookKeys {
  private readonly known = new LRUCache<string, readonly PublishedKey[]>({ max: 10_000, ttl: REMEMBERED_MS });

  constructor(
    private readonly signingKeys: SigningKeys,
    private readonly streams: Streams,
    private readonly config: PlatformConfig,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  /** @throws KeyNotFound when the tenant's keys were destroyed */
  async signer(tenantId: string, context: EventContext): Promise<Signer> {
    const keys = this.known.get(tenantId) ?? (await this.ensure(tenantId, context));
    return this.signingKeys.loadSigner(tenantId, signingKeyAt(keys, this.now()).keyId);
  }

  /** The tenant's keys; the first is created if missing. @throws KeyNotFound when they were destroyed */
  async ensure(tenantId: string, context: EventContext): Promise<readonly PublishedKey[]> {
    let state = await this.load(tenantId);
    if (state.status === 'absent') {
      // For tenants from before rotation it is the key that has been signing.
      const { keyId } = await this.signingKeys.ensureSigningKey(tenantId, 'webhook', 'Ed25519');
      ({ state } = await this.streams.runDecision(
        webhookKeys,
        webhookKeysStream(tenantId),
        (current) => chooseKey(current, { keyId }, { now: this.now() }),
        withoutRecord(context),
      ));
    }
    if (state.status !== 'active') throw new KeyNotFound(tenantId);
    this.known.set(tenantId, state.keys);
    return state.keys;
  }

  /** Returns the rotation that is in progress when there is one. @throws 404, KeyNotFound when the keys were destroyed */
  async rotate(tenantId: string, context: EventContext): Promise<WebhookKeyRotation> {
    await this.ensure(tenantId, context);
    const facts = {
      now: this.now(),
      leadSeconds: this.config.tenantKeyLeadSeconds,
      overlapSeconds: this.config.tenantKeyOverlapSeconds,
    };
    const { state } = await this.streams.runDecision(
      webhookKeys,
      webhookKeysStream(tenantId),
      async (current) => {
        const keyId = current.status === 'active' ? successorId(current.keys.at(-1)!.keyId) : '';
        const events = rotateKey(current, { keyId }, facts);
        if (events.length) await this.signingKeys.createSigningKeys(tenantId, 'webhook', ['Ed25519'], [keyId]);
        return events;
      },
      context,
    );
    const keys = state.status === 'active' ? state.keys : [];
    this.known.set(tenantId, keys);
    const [previous, newest] = keys.slice(-2);
    return {
      kid: newest!.keyId,
      signsFrom: newest!.signsFrom,
      previous: { kid: previous!.keyId, publishedUntil: previous!.publishedUntil! },
    };
  }

  /** Destroys the keys whose overlap is over, then appends the event: in this order, so that the next run completes an interrupted one. */
  async retire(tenantId: string, context: EventContext): Promise<void> {
    const now = this.now();
    await this.streams.runDecision(
      webhookKeys,
      webhookKeysStream(tenantId),
      async (state) => {
        const events = retireKeys(state, { now });
        const keyIds = events.flatMap((event) => (event.type === 'WebhookKeyRetired' ? [event.data.keyId] : []));
        await this.signingKeys.destroySigningKeys(tenantId, keyIds);
        return events;
      },
      context,
    );
    this.known.delete(tenantId);
  }

  /** RFC 8037 §2. Those that sign, have signed or will: see the overlap of a rotation. */
  async keySet(tenantId: string): Promise<WebhookKeySet> {
    const published = await this.published(tenantId);
    const keys = (await this.signingKeys.listSigningKeys(tenantId, 'webhook')).filter(
      ({ keyId }) => published === undefined || published.has(keyId),
    );
    return {
      keys: keys.map(({ keyId, publicJwk: { kty, crv, x } }) => ({
        kty,
        crv,
        x,
        use: 'sig',
        kid: keyId,
        alg: 'EdDSA',
      })),
    };
  }

  /** Stored ids, as the caller may have seen a key that another process created just now. Undefined: none yet. */
  private async published(tenantId: string): Promise<Set<string> | undefined> {
    const state = await this.load(tenantId);
    if (state.status === 'ended') return new Set();
    if (state.status === 'active') return new Set(publishedAt(state.keys, this.now()).map(({ keyId }) => keyId));
    await this.signingKeys.ensureSigningKey(tenantId, 'webhook', 'Ed25519');
    return undefined;
  }

  private async load(tenantId: string): Promise<WebhookKeysState> {
    return (await this.streams.load(webhookKeys, webhookKeysStream(tenantId))).state;
  }

  private now(): string {
    return this.clock.now().toISOString();
  }
}
