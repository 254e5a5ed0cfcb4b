import { Inject, Injectable, type OnModuleInit } from '@nestjs/common';
import { createLocalJWKSet, errors, jwtVerify, type JSONWebKeySet, type JWTPayload } from 'jose';
import { publishedAt, signingKeyAt, type JwkSet, type PublishedKey } from '@attestry/contracts';
import { Streams, type Clock, type EventContext } from '@attestry/event-store';
import { PLATFORM, SigningKeys, successorId, type Signer } from '@attestry/keys';
import { CLOCK, PlatformConfig, serviceContext } from '@attestry/service-kit';
import { chooseTokenKey, isTokenKeyDue, retireTokenKeys, rotateTokenKey } from './token-keys.decisions.js';
import { TOKEN_KEYS_STREAM, tokenKeys, type TokenKeysState } from './token-keys.state.js';

/** Longest time that the keys are cached, milliseconds. */
const REMEMBERED_MS = 60_000;

/** Outcome of a rotation. */
export interface TokenKeyRotation {
  kid: string;
  signsFrom: string;
  previous: { kid: string; publishedUntil: string };
}

/** The keys that sign client access tokens: the platform's own, the first created at the first start (ADR 0047). */
@Injectable()
export class TokenKeys implements OnModuleInit {
  private known: { keys: readonly PublishedKey[]; readAt: number } | undefined;

  constructor(
    private readonly signingKeys: SigningKeys,
    private readonly streams: Streams,
    private readonly config: PlatformConfig,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  async onModuleInit(): Promise<void> {
    await this.signingKeys.loadSigner(PLATFORM, signingKeyAt(await this.ensure(), this.now()).keyId);
  }

  /** A JWT access token (RFC 9068 §2.1), compact. */
  async sign(claims: object): Promise<string> {
    const signer = await this.signer();
    const header = { alg: 'ES256', typ: 'at+jwt', kid: signer.keyId };
    const input = [header, claims].map((part) => Buffer.from(JSON.stringify(part)).toString('base64url')).join('.');
    return `${input}.${Buffer.from(signer.sign(Buffer.from(input))).toString('base64url')}`;
  }

  /** Keys that will sign, sign, or have signed tokens that may not have expired. Never cached: another process may have rotated. */
  async jwks(): Promise<JwkSet> {
    const published = new Set(publishedAt(await this.ensure(), this.now()).map(({ keyId }) => keyId));
    const keys = await this.signingKeys.listSigningKeys(PLATFORM, 'token');
    return {
      keys: keys
        .filter(({ keyId }) => published.has(keyId))
        .map(({ keyId, publicJwk }) => ({ ...publicJwk, kid: keyId, alg: 'ES256', use: 'sig' })),
    };
  }

  /** The claims of a token that this platform signed and that has not expired; `undefined` for anything else. */
  async verify(token: string): Promise<JWTPayload | undefined> {
    const { environments, publicScheme } = this.config;
    try {
      const keySet = createLocalJWKSet((await this.jwks()) as unknown as JSONWebKeySet);
      const { payload } = await jwtVerify(token, keySet, {
        algorithms: ['ES256'],
        typ: 'at+jwt',
        issuer: environments.map((environment) => `${publicScheme}://${environment.authorizationServerDomain}`),
        currentDate: this.clock.now(),
      });
      return payload;
    } catch (error) {
      if (error instanceof errors.JOSEError) return undefined;
      throw error;
    }
  }

  /** Returns the rotation that is in progress when there is one. */
  async rotate(
    context: EventContext = serviceContext('management.rotate-token-keys', PLATFORM),
  ): Promise<TokenKeyRotation> {
    await this.ensure();
    const { tokenKeyLeadSeconds: leadSeconds, clientTokenSeconds } = this.config;
    // The lead twice: for processes whose clocks differ, and that sign with the previous key until they have read this.
    const facts = { now: this.now(), leadSeconds, overlapSeconds: clientTokenSeconds + leadSeconds };
    const { state } = await this.streams.runDecision(
      tokenKeys,
      TOKEN_KEYS_STREAM,
      async (current) => {
        const keyId = current.status === 'active' ? successorId(current.keys.at(-1)!.keyId) : '';
        const events = rotateTokenKey(current, { keyId }, facts);
        if (events.length) await this.signingKeys.createSigningKeys(PLATFORM, 'token', ['P-256'], [keyId]);
        return events;
      },
      context,
    );
    const [previous, newest] = this.cacheKeys(state).slice(-2) as [PublishedKey, PublishedKey];
    return {
      kid: newest.keyId,
      signsFrom: newest.signsFrom,
      previous: { kid: previous.keyId, publishedUntil: previous.publishedUntil! },
    };
  }

  /** Replaces the key when it is `TOKEN_KEY_DAYS` old, and destroys those whose tokens have all expired. */
  async keepFresh(): Promise<TokenKeyRotation | undefined> {
    const context = serviceContext('management.token-keys', PLATFORM);
    const now = this.now();
    await this.streams.runDecision(
      tokenKeys,
      TOKEN_KEYS_STREAM,
      async (current) => {
        const events = retireTokenKeys(current, { now });
        const keyIds = events.flatMap((event) => (event.type === 'TokenKeyRetired' ? [event.data.keyId] : []));
        // Destroyed before the event: after a crash between the two the next run completes it.
        if (keyIds.length) await this.signingKeys.destroySigningKeys(PLATFORM, keyIds);
        return events;
      },
      context,
    );
    const { state } = await this.streams.load(tokenKeys, TOKEN_KEYS_STREAM);
    return isTokenKeyDue(state, this.config.tokenKeyDays, now) ? this.rotate(context) : undefined;
  }

  /**
   * The key that signs now. A rotation by another process is read before its key signs: the cached view is at most half the lead old.
   */
  private async signer(): Promise<Signer> {
    const rememberedMs = Math.min(REMEMBERED_MS, (this.config.tokenKeyLeadSeconds * 1000) / 2);
    const { known } = this;
    const isFresh = known && this.clock.now().getTime() - known.readAt < rememberedMs;
    const keys = isFresh ? known.keys : await this.ensure();
    return this.signingKeys.loadSigner(PLATFORM, signingKeyAt(keys, this.now()).keyId);
  }

  /** The keys as stored; the first is created if missing. */
  private async ensure(): Promise<readonly PublishedKey[]> {
    let { state } = await this.streams.load(tokenKeys, TOKEN_KEYS_STREAM);
    if (state.status === 'absent') {
      // A platform from before rotation has a key that has been signing until now.
      const { keyId } = await this.signingKeys.ensureSigningKey(PLATFORM, 'token', 'P-256');
      ({ state } = await this.streams.runDecision(
        tokenKeys,
        TOKEN_KEYS_STREAM,
        (current) => chooseTokenKey(current, { keyId }, { now: this.now() }),
        serviceContext('management.token-keys', PLATFORM),
      ));
    }
    return this.cacheKeys(state);
  }

  private cacheKeys(state: TokenKeysState): readonly PublishedKey[] {
    if (state.status !== 'active') throw new Error('no key to sign tokens with');
    this.known = { keys: state.keys, readAt: this.clock.now().getTime() };
    return state.keys;
  }

  private now(): string {
    return this.clock.now().toISOString();
  }
}
