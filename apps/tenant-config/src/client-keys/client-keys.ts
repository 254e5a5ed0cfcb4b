import { Inject, Injectable } from '@nestjs/common';
import { publishedAt, signingKeyAt, type ProviderClientKeySet } from '@attestry/contracts';
import { Streams, type Clock, type EventContext } from '@attestry/event-store';
import { SigningKeys } from '@attestry/keys';
import { CLOCK, PlatformConfig } from '@attestry/service-kit';
import { chooseKey, isDue, retireKeys, rotateKey } from './client-keys.decisions.js';
import { clientKeys, clientKeysStream, type ClientKeysState } from './client-keys.state.js';

/**
 * The P-256 keys by which a tenant authenticates at its authentication provider: created on first use. A key that is due is replaced when it
 * signs, with the lead and the overlap of webhook keys; a key that does not sign needs no successor.
 */
@Injectable()
export class ClientKeys {
  constructor(
    private readonly signingKeys: SigningKeys,
    private readonly streams: Streams,
    private readonly config: PlatformConfig,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  /** A JWT by ES256 (RFC 7515 §3.1). @throws KeyNotFound when the tenant's keys were destroyed */
  async signJwt(tenantId: string, claims: object, context: EventContext): Promise<string> {
    const state = await this.current(tenantId, context);
    const { keyId } = signingKeyAt(state.keys, this.now());
    const signer = await this.signingKeys.loadSigner(tenantId, keyId);
    const text = [{ alg: 'ES256', kid: keyId }, claims].map((part) => encoded(JSON.stringify(part))).join('.');
    return `${text}.${encoded(signer.sign(Buffer.from(text)))}`;
  }

  /** Those that sign, have signed or will. */
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

  /** With a first key, without keys whose overlap is over, and with a successor of a key that is due. */
  private async current(tenantId: string, context: EventContext): Promise<ClientKeysState> {
    const stream = clientKeysStream(tenantId);
    let { state } = await this.streams.load(clientKeys, stream);
    if (state.keys.length === 0) {
      const { keyId } = await this.signingKeys.ensureSigningKey(tenantId, 'client', 'P-256');
      const choose = (current: ClientKeysState) => chooseKey(current, { keyId }, { now: this.now() });
      ({ state } = await this.streams.runDecision(clientKeys, stream, choose, context));
    }
    const facts = {
      now: this.now(),
      maxDays: this.config.webhookKeyDays,
      leadSeconds: this.config.webhookKeyLeadSeconds,
      overlapSeconds: this.config.webhookKeyOverlapSeconds,
    };
    if (retireKeys(state, facts).length > 0)
      ({ state } = await this.streams.runDecision(
        clientKeys,
        stream,
        async (current) => {
          const events = retireKeys(current, facts);
          // In this order, so that the next use completes an interrupted one.
          const keyIds = events.flatMap((event) => (event.type === 'ClientKeyRetired' ? [event.data.keyId] : []));
          await this.signingKeys.destroySigningKeys(tenantId, keyIds);
          return events;
        },
        context,
      ));
    if (!isDue(state, facts)) return state;
    const { keyId } = await this.signingKeys.createSigningKey(tenantId, 'client', 'P-256');
    const rotate = (current: ClientKeysState) => rotateKey(current, { keyId }, facts);
    ({ state } = await this.streams.runDecision(clientKeys, stream, rotate, context));
    // Another process was first.
    if (!state.keys.some((key) => key.keyId === keyId)) await this.signingKeys.destroySigningKeys(tenantId, [keyId]);
    return state;
  }

  private now(): string {
    return this.clock.now().toISOString();
  }
}

const encoded = (data: string | Uint8Array): string => Buffer.from(data).toString('base64url');
