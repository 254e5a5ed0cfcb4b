import { Inject, Injectable } from '@nestjs/common';
import { publishedAt, signingKeyAt, type ProviderClientKeySet, type PublishedKey } from '@attestry/contracts';
import { Streams, withoutRecord, type Clock, type EventContext } from '@attestry/event-store';
import { SigningKeys, successorId } from '@attestry/keys';
import { CLOCK, PlatformConfig, serviceContext, type RotatedKeys } from '@attestry/service-kit';
import { chooseKey, retireKeys, rotateKey } from './client-keys.decisions.js';
import { clientKeys, clientKeysStream } from './client-keys.state.js';

/**
 * The P-256 keys by which a tenant authenticates at its authentication provider: the first is created on first use, and later ones by
 * {@link KeepClientKeysFresh}, with the lead and the overlap of webhook keys.
 */
@Injectable()
export class ClientKeys implements RotatedKeys {
  constructor(
    private readonly signingKeys: SigningKeys,
    private readonly streams: Streams,
    private readonly config: PlatformConfig,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  /** A JWT by ES256 (RFC 7515 §3.1). @throws KeyNotFound when the tenant's keys were destroyed */
  async signJwt(tenantId: string, claims: object): Promise<string> {
    // The context is of no request: the client of a provider is used by many.
    const keys = await this.ensure(tenantId, serviceContext('tenant-config.client-keys', tenantId));
    const { keyId } = signingKeyAt(keys, this.now());
    const signer = await this.signingKeys.loadSigner(tenantId, keyId);
    const text = [{ alg: 'ES256', kid: keyId }, claims].map((part) => encoded(JSON.stringify(part))).join('.');
    return `${text}.${encoded(signer.sign(Buffer.from(text)))}`;
  }

  /** Keys that sign, have signed or will. */
  async keySet(tenantId: string): Promise<ProviderClientKeySet> {
    const { state } = await this.streams.load(clientKeys, clientKeysStream(tenantId));
    if (state.keys.length === 0) await this.signingKeys.ensureSigningKey(tenantId, 'client', 'P-256');
    const published = new Set(publishedAt(state.keys, this.now()).map(({ keyId }) => keyId));
    const keys = await this.signingKeys.listSigningKeys(tenantId, 'client');
    return {
      keys: keys
        .filter(({ keyId }) => state.keys.length === 0 || published.has(keyId))
        .map(({ keyId, publicJwk: { kty, crv, x, y } }) => ({ kty, crv, x, y, use: 'sig', kid: keyId, alg: 'ES256' })),
    };
  }

  /** Returns the newest key, also where no other one is due. @throws KeyNotFound when the tenant's keys were destroyed */
  async rotate(tenantId: string, context: EventContext): Promise<{ kid: string; signsFrom: string }> {
    await this.ensure(tenantId, context);
    const facts = {
      now: this.now(),
      maxDays: this.config.tenantKeyDays,
      leadSeconds: this.config.tenantKeyLeadSeconds,
      overlapSeconds: this.config.tenantKeyOverlapSeconds,
    };
    const { state } = await this.streams.runDecision(
      clientKeys,
      clientKeysStream(tenantId),
      async (current) => {
        const keyId = successorId(current.keys.at(-1)!.keyId);
        const events = rotateKey(current, { keyId }, facts);
        if (events.length) await this.signingKeys.createSigningKeys(tenantId, 'client', ['P-256'], [keyId]);
        return events;
      },
      context,
    );
    const { keyId, signsFrom } = state.keys.at(-1)!;
    return { kid: keyId, signsFrom };
  }

  /** Destroys the keys, then appends the event: in this order, so that the next run completes an interrupted one. */
  async retire(tenantId: string, context: EventContext): Promise<void> {
    const now = this.now();
    await this.streams.runDecision(
      clientKeys,
      clientKeysStream(tenantId),
      async (state) => {
        const events = retireKeys(state, { now });
        const keyIds = events.flatMap((event) => (event.type === 'ClientKeyRetired' ? [event.data.keyId] : []));
        await this.signingKeys.destroySigningKeys(tenantId, keyIds);
        return events;
      },
      context,
    );
  }

  /** The tenant's keys; the first is created if missing. @throws KeyNotFound when they were destroyed */
  private async ensure(tenantId: string, context: EventContext): Promise<readonly PublishedKey[]> {
    const stream = clientKeysStream(tenantId);
    const { state } = await this.streams.load(clientKeys, stream);
    if (state.keys.length > 0) return state.keys;
    const { keyId } = await this.signingKeys.ensureSigningKey(tenantId, 'client', 'P-256');
    const { state: chosen } = await this.streams.runDecision(
      clientKeys,
      stream,
      (current) => chooseKey(current, { keyId }, { now: this.now() }),
      withoutRecord(context),
    );
    return chosen.keys;
  }

  private now(): string {
    return this.clock.now().toISOString();
  }
}

const encoded = (data: string | Uint8Array): string => Buffer.from(data).toString('base64url');
