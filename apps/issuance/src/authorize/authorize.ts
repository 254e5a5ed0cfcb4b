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
import {
  CALLBACK,
  PendingAuthorizations,
  setCookie,
  type RequestingClient,
} from '../authorization-request/pending-authorizations.js';
import { checkPushed } from '../authorization-request/check-pushed.js';
import { PushedAuthorizations, type PushedAuthorization } from '../authorization-request/pushed-authorizations.js';
import { redirectPolicyOf, type RedirectPolicy } from '../authorization-request/redirect-policy.js';
import { redirect, redirectToClient } from '../authorization-request/redirect.js';
import { refusalPage } from '../authorization-request/refusal-page.js';
import { PublishedConfigurations } from '../protocol/published-configurations.js';
import { queryOf, rawOf } from '../protocol/raw-request.js';
import { recordOutcome, type WalletRecord } from '../protocol/record-outcome.js';
import { findRegisteredWallet } from '../wallets/find-registered-wallet.js';
import { TenantWallets } from '../wallets/tenant-wallets.js';
import { parseAuthorizationRequest, parseClient } from '../authorization-request/parse-authorization-request.js';
import { requestedEntries } from '../authorization-request/requested-entries.js';

/** Requests of unregistered wallets are not recorded, except, once per minute and process, those for which the provider is refused. */
const REFUSAL_RECORDED_EVERY_MS = 60_000;

/**
 * Authorization endpoint, OID4VCI §5: stores the wallet's request and redirects the person to the tenant's provider. Recorded for registered
 * wallets (ADR 0087).
 */
@Operation(authorize)
export class Authorize implements OnApplicationBootstrap {
  private readonly policy: RedirectPolicy;
  /** When a refusal of the tenant's provider was last recorded. */
  private readonly refusalRecordedAt = new LRUCache<string, number>({ max: 10_000 });

  constructor(
    private readonly configurations: PublishedConfigurations,
    private readonly pending: PendingAuthorizations,
    private readonly pushed: PushedAuthorizations,
    private readonly wallets: TenantWallets,
    private readonly client: ServiceClient,
    readonly recorder: OperationRecorder,
    @Inject(CLOCK) readonly clock: Clock,
    @Inject(LOGGER) readonly logger: Logger,
    config: PlatformConfig,
  ) {
    this.policy = redirectPolicyOf(config);
  }

  onApplicationBootstrap(): void {
    if (this.policy.allowed?.length === 0)
      this.logger.warn('authorization endpoint refuses all wallets: WALLET_REDIRECT_URIS is not set');
  }

  async execute(request: RequestOf<typeof authorize>, context: HolderContext): Promise<HttpAnswer> {
    const sent = queryOf(rawOf(request));
    const { id: tenantId, baseUrl: issuer } = context.tenant;
    let pushed: PushedAuthorization | undefined;
    let requestingClient: RequestingClient;
    try {
      pushed = await this.pushed.open(tenantId, sent);
      requestingClient = parseClient(pushed?.parameters ?? sent, this.policy);
    } catch (error) {
      if (!this.policy.rendersPages) throw error;
      const refusal = toAppError(error, context, this.logger);
      return refusalPage(refusal, { issuer, requestId: context.requestId });
    }
    try {
      return await recordOutcome(this, authorize, context, (record) =>
        this.redirectToProvider(requestingClient, pushed ?? { parameters: sent }, context, record),
      );
    } catch (error) {
      const refusal = toAppError(error, context, this.logger);
      return redirectToClient({ ...requestingClient, issuer }, { ...oauthFault(refusal) });
    }
  }

  private async redirectToProvider(
    requestingClient: RequestingClient,
    { id: pushed, parameters: query }: Partial<PushedAuthorization> & Pick<PushedAuthorization, 'parameters'>,
    context: HolderContext,
    record: WalletRecord,
  ): Promise<HttpAnswer> {
    const { id: tenantId, baseUrl: issuer } = context.tenant;
    const wallet = findRegisteredWallet(await this.wallets.listWallets(tenantId), requestingClient.clientId);
    if (wallet) record.nameWallet(wallet);
    checkPushed(pushed !== undefined, await this.wallets.readSettings(tenantId));
    const parsed = parseAuthorizationRequest(query, issuer);
    const requested = requestedEntries(parsed, await this.configurations.listActive(tenantId));
    const binding = this.pending.binding();
    const nonce = randomBytes(32).toString('base64url');
    const codeVerifier = randomBytes(32).toString('base64url');
    const codeChallenge = createHash('sha256').update(codeVerifier).digest('base64url');
    const redirectUrl = `${issuer}${CALLBACK}`;
    const begun = await this.signIn(
      { redirectUrl, state: binding.id, nonce, codeChallenge, query: query.toString() },
      context,
      wallet !== undefined,
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
      ...(pushed !== undefined && { pushed }),
    });
    return redirect(begun.url, { 'set-cookie': setCookie(binding, issuer) });
  }

  private async signIn(
    body: RequestOf<typeof beginSignIn>['body'],
    context: HolderContext,
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
