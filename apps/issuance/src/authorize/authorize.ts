import { createHash, randomBytes } from 'node:crypto';
import { Inject, type OnApplicationBootstrap } from '@nestjs/common';
import {
  AppError,
  authorize,
  beginSignIn,
  HTTP_STATUS,
  oauthError,
  oauthFault,
  type BegunSignIn,
  type HolderContext,
  type HttpAnswer,
} from '@attestry/contracts';
import type { Clock } from '@attestry/event-store';
import {
  CallRecord,
  CLOCK,
  LOGGER,
  Operation,
  OperationRecorder,
  PlatformConfig,
  ServiceClient,
  toAppError,
  type Logger,
  type RequestOf,
} from '@attestry/service-kit';
import { LRUCache } from 'lru-cache';
import { AuthorizationOffers } from '../authorization-offer/authorization-offers.js';
import {
  CALLBACK,
  PendingAuthorizations,
  setCookie,
  type RequestingClient,
} from '../authorization-request/pending-authorizations.js';
import { redirectPolicyOf, type RedirectPolicy } from '../authorization-request/redirect-policy.js';
import { redirect, redirectToClient } from '../authorization-request/redirect.js';
import { refusalPage } from '../authorization-request/refusal-page.js';
import { PublishedConfigurations } from '../protocol/published-configurations.js';
import { queryOf, rawOf } from '../protocol/raw-request.js';
import { parseAuthorizationRequest, parseClient } from './parse-authorization-request.js';
import { requestedEntries } from './requested-entries.js';

/** Authorization requests need no credentials: for a refused provider, one per minute and process is recorded in the tenant's events. */
const REFUSAL_RECORDED_EVERY_MS = 60_000;

/** Authorization endpoint, OID4VCI §5: stores the wallet's request and redirects the person to the tenant's provider. */
@Operation(authorize)
export class Authorize implements OnApplicationBootstrap {
  private readonly policy: RedirectPolicy;
  /** When a refusal of the tenant's provider was last recorded. */
  private readonly refusalRecordedAt = new LRUCache<string, number>({ max: 10_000 });

  constructor(
    private readonly configurations: PublishedConfigurations,
    private readonly pending: PendingAuthorizations,
    private readonly offers: AuthorizationOffers,
    private readonly client: ServiceClient,
    private readonly recorder: OperationRecorder,
    @Inject(CLOCK) private readonly clock: Clock,
    @Inject(LOGGER) private readonly logger: Logger,
    config: PlatformConfig,
  ) {
    this.policy = redirectPolicyOf(config);
  }

  onApplicationBootstrap(): void {
    if (this.policy.allowed?.length === 0)
      this.logger.warn('authorization endpoint refuses all wallets: WALLET_REDIRECT_URIS is not set');
  }

  async execute(request: RequestOf<typeof authorize>, context: HolderContext): Promise<HttpAnswer> {
    const query = queryOf(rawOf(request));
    const { baseUrl: issuer } = context.tenant;
    let requestingClient: RequestingClient;
    try {
      requestingClient = parseClient(query, this.policy);
    } catch (error) {
      if (!this.policy.rendersPages) throw error;
      const refusal = toAppError(error, context, this.logger);
      return refusalPage(refusal, { issuer, requestId: context.requestId });
    }
    try {
      return await this.redirectToProvider(requestingClient, query, context);
    } catch (error) {
      const refusal = toAppError(error, context, this.logger);
      return redirectToClient({ ...requestingClient, issuer }, { ...oauthFault(refusal) });
    }
  }

  private async redirectToProvider(
    requestingClient: RequestingClient,
    query: URLSearchParams,
    context: HolderContext,
  ): Promise<HttpAnswer> {
    const { id: tenantId, baseUrl: issuer } = context.tenant;
    const parsed = parseAuthorizationRequest(query, issuer);
    const named = requestedEntries(parsed, await this.configurations.listActive(tenantId));
    const requested = await this.offers.restrictRequest(tenantId, parsed, named);
    const binding = this.pending.binding();
    const nonce = randomBytes(32).toString('base64url');
    const codeVerifier = randomBytes(32).toString('base64url');
    const codeChallenge = createHash('sha256').update(codeVerifier).digest('base64url');
    const redirectUrl = `${issuer}${CALLBACK}`;
    const begun = await this.signIn(
      { redirectUrl, state: binding.id, nonce, codeChallenge, query: query.toString() },
      context,
    );
    await this.pending.store(tenantId, binding, {
      ...requestingClient,
      codeChallenge: parsed.codeChallenge,
      ...requested,
      issuer,
      providerId: begun.providerId,
      ...(begun.identitySpaceId !== undefined && { identitySpaceId: begun.identitySpaceId }),
      nonce,
      codeVerifier,
    });
    return redirect(begun.url, { 'set-cookie': setCookie(binding, issuer) });
  }

  private async signIn(body: RequestOf<typeof beginSignIn>['body'], context: HolderContext): Promise<BegunSignIn> {
    try {
      return await this.client.call(beginSignIn, { body }, context);
    } catch (error) {
      if (error instanceof AppError && error.kind === 'notFound')
        throw oauthError('server_error', 'no authentication provider is configured', { check: 'authorize' });
      if (error instanceof AppError && error.code === 'server_error') await this.recordRefusal(error, context);
      throw error;
    }
  }

  /** A provider that changed where credentials are sent: the tenant's administrators must see it (ADR 0050). */
  private async recordRefusal(refusal: AppError, context: HolderContext): Promise<void> {
    const { id: tenantId } = context.tenant;
    const now = this.clock.now().getTime();
    if (now - (this.refusalRecordedAt.get(tenantId) ?? -Infinity) < REFUSAL_RECORDED_EVERY_MS) return;
    this.refusalRecordedAt.set(tenantId, now);
    const call = new CallRecord(authorize, context, { startedAt: new Date(now).toISOString() });
    const { kind, code, message } = refusal;
    call.details = { outcome: 'FAIL', metadata: { error: { status: HTTP_STATUS[kind], code, message } } };
    await this.recorder.add(call.messageOf(new Date(now).toISOString()), context.deadline);
  }
}
