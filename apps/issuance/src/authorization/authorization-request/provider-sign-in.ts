import { createHash } from 'node:crypto';
import { Inject, Injectable } from '@nestjs/common';
import {
  AppError,
  authorize,
  beginSignIn,
  HTTP_STATUS,
  oauthError,
  type BegunSignIn,
  type HolderContext,
  type PublicContext,
} from '@attestry/contracts';
import type { Clock } from '@attestry/event-store';
import { CallRecord, CLOCK, OperationRecorder, ServiceClient, type RequestOf } from '@attestry/service-kit';
import { LRUCache } from 'lru-cache';
import { makeSecret } from './browser-bound-requests.js';
import type { AcceptedRequest } from '../../wallets/wallet-record/accepted-request.js';
import { CALLBACK, PendingAuthorizations, signInCookies } from './pending-authorizations.js';

/** Requests of unregistered wallets are not recorded, except, once per minute and process, those for which the provider is refused. */
const REFUSAL_RECORDED_EVERY_MS = 60_000;

type SignInContext = HolderContext | PublicContext;

/** Where the browser goes on, and its cookie. */
export interface StartedSignIn {
  url: string;
  cookie: string;
}

/** Starts the sign-in with the tenant's provider for an accepted authorization request. */
@Injectable()
export class ProviderSignIn {
  /** When a refusal of the tenant's provider was last recorded. */
  private readonly refusalRecordedAt = new LRUCache<string, number>({ max: 10_000 });

  constructor(
    private readonly pending: PendingAuthorizations,
    private readonly client: ServiceClient,
    private readonly recorder: OperationRecorder,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  /**
   * @param query of the authorization request: the provider gets the parameters it forwards
   * @throws AppError whose code goes to the client
   */
  async start(request: AcceptedRequest, query: string, context: SignInContext): Promise<StartedSignIn> {
    const { issuer } = request;
    const binding = this.pending.binding();
    const [nonce, codeVerifier] = [makeSecret(), makeSecret()];
    const begunAt = this.clock.now().getTime();
    const codeChallenge = createHash('sha256').update(codeVerifier).digest('base64url');
    const begun = await this.begin(
      { redirectUrl: `${issuer}${CALLBACK}`, state: binding.id, nonce, codeChallenge, query },
      context,
      request.clientKind === 'registered',
    );
    await this.pending.store(context.tenant.id, binding, {
      ...request,
      providerId: begun.providerId,
      ...(begun.identitySpaceId !== undefined && { identitySpaceId: begun.identitySpaceId }),
      nonce,
      codeVerifier,
      begunAt,
    });
    return { url: begun.url, cookie: signInCookies.set(binding, issuer) };
  }

  private async begin(
    body: RequestOf<typeof beginSignIn>['body'],
    context: SignInContext,
    isRecorded: boolean,
  ): Promise<BegunSignIn> {
    try {
      return await this.client.call(beginSignIn, { body }, context);
    } catch (error) {
      if (error instanceof AppError && error.kind === 'notFound')
        throw oauthError('server_error', 'no authentication provider is configured', { check: 'authorize' });
      if (error instanceof AppError && error.code === 'server_error' && !isRecorded)
        await this.recordRefusal(error, context);
      throw error;
    }
  }

  /** A provider that changed where credentials are sent: the tenant's administrators must see it (ADR 0050). */
  private async recordRefusal(refusal: AppError, context: SignInContext): Promise<void> {
    const { id: tenantId } = context.tenant;
    const now = this.clock.now().getTime();
    if (now - (this.refusalRecordedAt.get(tenantId) ?? -Infinity) < REFUSAL_RECORDED_EVERY_MS) return;
    this.refusalRecordedAt.set(tenantId, now);
    const call = new CallRecord(authorize, context, { startedAt: new Date(now).toISOString() });
    const { kind, code, message } = refusal;
    call.details = {
      outcome: 'FAIL',
      metadata: { ...refusal.recorded, error: { status: HTTP_STATUS[kind], code, message } },
    };
    await this.recorder.add(call.messageOf(new Date(now).toISOString()), context.deadline);
  }
}
