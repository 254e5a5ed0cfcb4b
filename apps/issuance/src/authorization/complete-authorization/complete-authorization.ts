import {
  AppError,
  AuthenticationQuery,
  completeAuthorization,
  completeSignIn,
  oauthError,
  type CompletedSignIn,
  type HttpAnswer,
  type HolderContext,
} from '@attestry/contracts';
import { withoutRecord } from '@attestry/event-store';
import { Operation, ServiceClient, type RequestOf } from '@attestry/service-kit';
import { AuthorizationAnswers, type AuthorizationStep } from '../authorization-request/authorization-answers.js';
import { AuthorizationCodes } from '../authorization-request/authorization-codes.js';
import {
  CALLBACK,
  PendingAuthorizations,
  signInCookies,
  type PendingAuthorization,
} from '../authorization-request/pending-authorizations.js';
import { PushedAuthorizations } from '../authorization-request/pushed-authorizations.js';
import { ClaimUse } from '../../claims/claim-sets/claim-use.js';
import { InteractionHooks } from '../interaction-hook/interaction-hooks.js';
import { checkLengths, maxLengthsOf } from '../../reading/raw-request/check-lengths.js';
import { queryOf, rawOf } from '../../reading/raw-request/raw-request.js';
import type { OfferEntry } from '../../sessions/issuance-session/issuance-session.events.js';
import type { WalletRecord } from '../../wallets/wallet-record/wallet-records.js';
import { SignedInUsers } from '../../users/user/signed-in-users.js';

const MAX_LENGTHS = maxLengthsOf(AuthenticationQuery);
/** Mapped claims that a sign-in names, and their characters: of more than these, an ID token lacks one anyway. */
const [MAX_NAMES, MAX_NAMED_CHARACTERS] = [1000, 65_536];

/**
 * Redirect target of the provider: the person becomes a user, and the wallet gets its code, or the browser visits the interaction hook
 * first. Recorded for every wallet (ADR 0087), with START once the person is known.
 */
@Operation(completeAuthorization)
export class CompleteAuthorization {
  constructor(
    private readonly pending: PendingAuthorizations,
    private readonly pushed: PushedAuthorizations,
    private readonly users: SignedInUsers,
    private readonly hooks: InteractionHooks,
    private readonly codes: AuthorizationCodes,
    private readonly claimUse: ClaimUse,
    private readonly answers: AuthorizationAnswers,
    private readonly client: ServiceClient,
  ) {}

  async execute(request: RequestOf<typeof completeAuthorization>, context: HolderContext): Promise<HttpAnswer> {
    const raw = rawOf(request);
    const query = queryOf(raw);
    checkLengths(MAX_LENGTHS, query);
    const id = query.get('state') ?? '';
    const waiting = await this.pending.redeem(context.tenant.id, id, raw.headers['cookie']);
    if (!waiting) return this.answers.refuseUnknown(context);
    return this.answers.answer(
      completeAuthorization,
      waiting,
      context,
      signInCookies.drop(id, waiting.issuer),
      (record) => this.authorize(waiting, id, query, context, record),
    );
  }

  private async authorize(
    waiting: PendingAuthorization,
    state: string,
    query: URLSearchParams,
    context: HolderContext,
    record: WalletRecord,
  ): Promise<AuthorizationStep> {
    const { id: tenantId } = context.tenant;
    if (waiting.pushed !== undefined && !(await this.pushed.finish(tenantId, waiting.pushed)))
      throw oauthError('invalid_request', 'another sign-in with the same request_uri has finished', {
        check: 'complete-authorization',
      });
    const person = await this.signedIn(waiting, state, query, context);
    await record.start();
    if (person.unusableClaims) record.addMetadata({ unusableClaims: person.unusableClaims });
    const { providerId } = waiting;
    const { userInfo } = person;
    if (userInfo?.failure !== undefined) record.addMetadata({ userInfoFailure: userInfo.failure });
    const events = withoutRecord(record.events);
    const userId = await this.users.findOrCreateUser(tenantId, { ...person, providerId }, events);

    const { nonce: _, codeVerifier: __, begunAt: ___, ...request } = waiting;
    const authenticated = { ...request, ...(userInfo && { userInfo }) };
    const hook = await this.hooks.find(tenantId);
    if (hook) {
      record.addMetadata({ userId });
      return this.hooks.start(tenantId, hook, authenticated, { userId, claims: person.claims });
    }
    return { code: await this.codes.issue(tenantId, authenticated, { userId, claims: person.claims }, record) };
  }

  private async signedIn(
    { providerId, identitySpaceId, nonce, codeVerifier, begunAt, issuer, entries }: PendingAuthorization,
    state: string,
    query: URLSearchParams,
    context: HolderContext,
  ): Promise<CompletedSignIn> {
    const body = {
      ...{ providerId, nonce, codeVerifier, state },
      ...(identitySpaceId !== undefined && { identitySpaceId }),
      begunAt,
      redirectUrl: `${issuer}${CALLBACK}`,
      query: query.toString(),
      mappedClaims: await this.mappedClaims(context.tenant.id, entries),
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

  private async mappedClaims(tenantId: string, entries: readonly OfferEntry[]): Promise<string[]> {
    const names = await this.claimUse.mappedClaims(
      tenantId,
      entries.map(({ credentialConfigurationId }) => credentialConfigurationId),
    );
    let characters = 0;
    return names.slice(0, MAX_NAMES).filter((name) => (characters += name.length) <= MAX_NAMED_CHARACTERS);
  }
}
