import { Inject } from '@nestjs/common';
import {
  AppError,
  AuthenticationQuery,
  completeAuthorization,
  completeSignIn,
  oauthError,
  oauthFault,
  type CompletedSignIn,
  type HttpAnswer,
  type HolderContext,
} from '@attestry/contracts';
import { Streams, withoutRecord, type Clock, type Ids } from '@attestry/event-store';
import { Macs, Sealing } from '@attestry/keys';
import {
  CLOCK,
  IDS,
  LOGGER,
  Operation,
  OperationRecorder,
  PlatformConfig,
  ServiceClient,
  toAppError,
  type Logger,
  type RequestOf,
} from '@attestry/service-kit';
import { AuthorizationOffers } from '../authorization-offer/authorization-offers.js';
import {
  CALLBACK,
  PendingAuthorizations,
  signInCookies,
  type PendingAuthorization,
} from '../authorization-request/pending-authorizations.js';
import { PushedAuthorizations } from '../authorization-request/pushed-authorizations.js';
import { redirectToClient } from '../authorization-request/redirect.js';
import { refusalPage } from '../authorization-request/refusal-page.js';
import { sessionClaimsText } from '../claim-sets/claim-sets.js';
import { grantAuthorization } from '../issuance-session/issuance-session.decisions.js';
import { issuanceSession, issuanceSessionStream } from '../issuance-session/issuance-session.state.js';
import { grantContext, makeBearerValue } from '../protocol/bearer-value.js';
import { checkLengths, maxLengthsOf } from '../protocol/check-lengths.js';
import { queryOf, rawOf } from '../protocol/raw-request.js';
import { recordOutcome, type WalletRecord } from '../protocol/record-outcome.js';
import { SignedInUsers } from '../user/signed-in-users.js';
import { TenantWallets } from '../wallets/tenant-wallets.js';

const MAX_LENGTHS = maxLengthsOf(AuthenticationQuery);

/**
 * Redirect target of the provider: the person becomes a user, and the wallet gets its code. Recorded for every wallet (ADR 0087): the person
 * is known.
 */
@Operation(completeAuthorization)
export class CompleteAuthorization {
  constructor(
    private readonly streams: Streams,
    private readonly macs: Macs,
    private readonly sealing: Sealing,
    private readonly pending: PendingAuthorizations,
    private readonly pushed: PushedAuthorizations,
    private readonly users: SignedInUsers,
    private readonly wallets: TenantWallets,
    private readonly offers: AuthorizationOffers,
    private readonly client: ServiceClient,
    readonly recorder: OperationRecorder,
    private readonly config: PlatformConfig,
    @Inject(LOGGER) readonly logger: Logger,
    @Inject(CLOCK) readonly clock: Clock,
    @Inject(IDS) private readonly ids: Ids,
  ) {}

  async execute(request: RequestOf<typeof completeAuthorization>, context: HolderContext): Promise<HttpAnswer> {
    const raw = rawOf(request);
    const query = queryOf(raw);
    checkLengths(MAX_LENGTHS, query);
    const id = query.get('state') ?? '';
    const waiting = await this.pending.redeem(context.tenant.id, id, raw.headers['cookie']);
    const page = { issuer: context.tenant.baseUrl, requestId: context.requestId };
    if (!waiting) {
      const refusal = oauthError(
        'invalid_request',
        'the sign-in has ended or was started in another browser; start again in the wallet',
        { check: 'complete-authorization' },
      );
      return refusalPage(toAppError(refusal, context, this.logger), page);
    }
    const headers = { 'set-cookie': signInCookies.drop(id, waiting.issuer) };
    const clientRefusal = await this.findClientRefusal(waiting, context);
    try {
      const code = await recordOutcome(this, completeAuthorization, context, async (record) => {
        await record.start();
        if (clientRefusal) throw clientRefusal;
        return this.authorize(waiting, id, query, context, record);
      });
      return redirectToClient(waiting, { code }, headers);
    } catch (error) {
      if (!(error instanceof AppError)) throw error;
      // Already recorded and logged. Only a wallet that is still allowed receives the error at its redirect address (RFC 6749 §4.1.2.1).
      return clientRefusal
        ? refusalPage(error, page, headers)
        : redirectToClient(waiting, { ...oauthFault(error) }, headers);
    }
  }

  private async findClientRefusal(
    waiting: PendingAuthorization,
    context: HolderContext,
  ): Promise<AppError | undefined> {
    try {
      await this.wallets.confirmClient(context.tenant.id, waiting);
      return undefined;
    } catch (error) {
      return toAppError(error, context, this.logger);
    }
  }

  private async authorize(
    waiting: PendingAuthorization,
    state: string,
    query: URLSearchParams,
    context: HolderContext,
    record: WalletRecord,
  ): Promise<string> {
    const { id: tenantId } = context.tenant;
    if (waiting.pushed !== undefined && !(await this.pushed.finish(tenantId, waiting.pushed)))
      throw oauthError('invalid_request', 'another sign-in with the same request_uri has finished', {
        check: 'complete-authorization',
      });
    const person = await this.signedIn(waiting, state, query, context);
    const { providerId } = waiting;
    const events = withoutRecord(record.events);
    const userId = await this.users.findOrCreateUser(tenantId, { ...person, providerId }, events);

    const claimSets = await this.offers.claimSetsOf(tenantId, waiting, userId);
    const now = this.clock.now();
    const sessionId = this.ids.uuid();
    record.nameSession({ id: sessionId, userId });
    const made = makeBearerValue(sessionId, this.ids.uuid());
    const { mac, pepper } = this.macs.mac(made.value, grantContext('authorizationCode', tenantId, sessionId));
    const expiresAt = new Date(now.getTime() + this.config.authorizationCodeSeconds * 1000).toISOString();
    const sealed =
      claimSets || Object.keys(person.claims).length
        ? this.sealing.sealWithNewKey(tenantId, 'session', sessionId, sessionClaimsText(person.claims, claimSets))
        : undefined;
    await this.streams.decideOn(
      issuanceSession,
      issuanceSessionStream(tenantId, sessionId),
      this.streams.initial(issuanceSession),
      (session) =>
        grantAuthorization(
          session,
          {
            sessionId,
            origin: {
              kind: 'authorizationRequest',
              clientId: waiting.clientId,
              ...(waiting.clientKind === 'registered' && { isRegistered: true }),
              redirectUri: waiting.redirectUri,
              codeChallenge: waiting.codeChallenge,
              providerId,
              ...(waiting.detailed && { detailed: waiting.detailed }),
              ...(waiting.dpopJkt !== undefined && { dpopJkt: waiting.dpopJkt }),
              ...(waiting.instanceJkt !== undefined && { instanceJkt: waiting.instanceJkt }),
              ...(waiting.offerId !== undefined && { offerId: waiting.offerId }),
            },
            issuer: waiting.issuer,
            userId,
            entries: waiting.entries,
            code: { tokenId: made.tokenId, kind: 'authorizationCode', mac, keyId: pepper, expiresAt },
            ...(sealed && { sealedClaims: sealed.sealed }),
            ...(claimSets && { identifiers: claimSets.identifiers }),
          },
          now,
        ),
      record.events,
      { unit: { writes: sealed ? [sealed.newKey] : [] } },
    );
    return made.value;
  }

  private async signedIn(
    { providerId, identitySpaceId, nonce, codeVerifier, issuer }: PendingAuthorization,
    state: string,
    query: URLSearchParams,
    context: HolderContext,
  ): Promise<CompletedSignIn> {
    const body = {
      ...{ providerId, nonce, codeVerifier, state },
      ...(identitySpaceId !== undefined && { identitySpaceId }),
      redirectUrl: `${issuer}${CALLBACK}`,
      query: query.toString(),
    };
    try {
      return await this.client.call(completeSignIn, { body }, context);
    } catch (error) {
      if (error instanceof AppError && error.kind === 'notFound')
        throw oauthError('access_denied', 'the authentication provider was removed', {
          check: 'complete-authorization',
        });
      if (error instanceof AppError && error.kind === 'invalid')
        throw oauthError('server_error', 'the response of the authentication provider is too large', {
          check: 'complete-authorization',
          cause: error,
        });
      throw error;
    }
  }
}
