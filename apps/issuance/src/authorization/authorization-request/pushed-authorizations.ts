import { createHash, randomBytes } from 'node:crypto';
import { Inject, Injectable } from '@nestjs/common';
import { oauthError, REQUEST_URI_PREFIX, type OAuthErrorCode } from '@attestry/contracts';
import type { Clock } from '@attestry/event-store';
import { ExpiringState, isErased } from '@attestry/keys';
import { CLOCK } from '@attestry/service-kit';
import { SIGN_IN_SECONDS } from './pending-authorizations.js';
import { CONSENT_SECONDS } from './pending-consents.js';

/** How long a reference can be opened, seconds. RFC 9126 §2.2 */
export const PUSHED_SECONDS = 60;

/** An authorization request that a wallet pushed. */
export interface PushedAuthorization {
  /** Digest of the reference. */
  id: string;
  parameters: URLSearchParams;
  /** Thumbprint of the attested key of the wallet that pushed it. */
  instanceJkt?: string;
}

/** Stored beside the parameters; one that a wallet sends is dropped. */
const INSTANCE_JKT = 'attested_instance_jkt';

const REFERENCE = /^[A-Za-z0-9_-]{43}$/;
const idOf = (reference: string): string => createHash('sha256').update(reference).digest('base64url');
const nameOf = (id: string): string => `pushed:${id}`;
const finishedNameOf = (id: string): string => `pushed-finished:${id}`;
const refused = (code: OAuthErrorCode, description: string) =>
  oauthError(code, description, { check: 'pushed-authorizations' });

/**
 * Pushed authorization requests (RFC 9126). They can be created without credentials, so they are expiring state and no events (ADR 0087). A
 * reference can be opened again until its first sign-in has finished, because browsers reload pages.
 */
@Injectable()
export class PushedAuthorizations {
  constructor(
    private readonly state: ExpiringState,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  /** @returns the `request_uri`, of which only a digest is stored */
  async store(tenantId: string, parameters: string, instanceJkt?: string): Promise<string> {
    const stored = new URLSearchParams(parameters);
    stored.delete(INSTANCE_JKT);
    if (instanceJkt !== undefined) stored.set(INSTANCE_JKT, instanceJkt);
    const reference = randomBytes(32).toString('base64url');
    await this.state.write(tenantId, nameOf(idOf(reference)), stored.toString(), this.expiresIn(PUSHED_SECONDS));
    return `${REQUEST_URI_PREFIX}${reference}`;
  }

  /**
   * The request that a query of the authorization endpoint refers to. Undefined when the query has no `request_uri`; of one that has,
   * everything else but `client_id` is ignored (RFC 9101 §5).
   * @throws AppError 400 that is shown on a page: the redirect URI is not known
   */
  async open(tenantId: string, query: URLSearchParams): Promise<PushedAuthorization | undefined> {
    if (!query.get('request_uri') && query.getAll('request_uri').length < 2) return undefined;
    for (const name of ['request_uri', 'client_id'])
      if (query.getAll(name).length !== 1 || query.get(name) === '')
        throw refused('invalid_request', `${name} must be sent once, with a value`);
    const requestUri = query.get('request_uri')!;
    const reference = requestUri.slice(REQUEST_URI_PREFIX.length);
    if (!requestUri.startsWith(REQUEST_URI_PREFIX) || !REFERENCE.test(reference))
      throw refused('invalid_request_uri', 'request_uri must be one that this issuer returned for a pushed request');
    const id = idOf(reference);
    const [found, finished] = await Promise.all([
      this.state.read(tenantId, nameOf(id)),
      this.state.read(tenantId, finishedNameOf(id)),
    ]);
    if (!found || isErased(found) || found.expiresAt <= this.clock.now().getTime() || finished)
      throw refused(
        'invalid_request_uri',
        'request_uri is unknown, has expired or was already used; start again in the wallet',
      );
    const parameters = new URLSearchParams(found.text);
    if (parameters.get('client_id') !== query.get('client_id'))
      throw refused('invalid_request', 'client_id must be the one of the pushed request');
    const instanceJkt = parameters.get(INSTANCE_JKT);
    parameters.delete(INSTANCE_JKT);
    return { id, parameters, ...(instanceJkt !== null && { instanceJkt }) };
  }

  /** Ends a pushed request. False when it ended before: of concurrent sign-ins one succeeds. */
  async finish(tenantId: string, id: string): Promise<boolean> {
    // Longer than any sign-in that began with this request.
    const ended = await this.state.write(
      tenantId,
      finishedNameOf(id),
      '',
      this.expiresIn(PUSHED_SECONDS + CONSENT_SECONDS + SIGN_IN_SECONDS),
    );
    return ended !== undefined;
  }

  private expiresIn(seconds: number): { expiresAt: number } {
    return { expiresAt: this.clock.now().getTime() + seconds * 1000 };
  }
}
