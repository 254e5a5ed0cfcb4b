import {
  completeInteraction,
  InteractionQuery,
  namesOfUnusable,
  type HolderContext,
  type HttpAnswer,
} from '@attestry/contracts';
import { withoutRecord } from '@attestry/event-store';
import { Operation, type RequestOf } from '@attestry/service-kit';
import { AuthorizationAnswers, type AuthorizationStep } from '../authorization-request/authorization-answers.js';
import { AuthorizationCodes } from '../authorization-request/authorization-codes.js';
import { InteractionHooks, userDeleted } from '../interaction-hook/interaction-hooks.js';
import {
  interactionCookies,
  PendingInteractions,
  type PendingInteraction,
} from '../interaction-hook/pending-interactions.js';
import { stateOf } from '../interaction-hook/session-token.js';
import { checkLengths, maxLengthsOf } from '../../reading/raw-request/check-lengths.js';
import { queryOf, rawOf } from '../../reading/raw-request/raw-request.js';
import type { WalletRecord } from '../../wallets/wallet-record/wallet-records.js';
import { SignedInUsers } from '../../users/user/signed-in-users.js';

const MAX_LENGTHS = maxLengthsOf(InteractionQuery);

/** Redirect target of the interaction hook: the wallet gets its code. Recorded for every wallet: the person is known. */
@Operation(completeInteraction)
export class CompleteInteraction {
  constructor(
    private readonly pending: PendingInteractions,
    private readonly hooks: InteractionHooks,
    private readonly users: SignedInUsers,
    private readonly codes: AuthorizationCodes,
    private readonly answers: AuthorizationAnswers,
  ) {}

  async execute(request: RequestOf<typeof completeInteraction>, context: HolderContext): Promise<HttpAnswer> {
    const raw = rawOf(request);
    const query = queryOf(raw);
    checkLengths(MAX_LENGTHS, query);
    const token = query.get('session_token') ?? '';
    const state = stateOf(token);
    const waiting = await this.pending.redeem(context.tenant.id, state, raw.headers['cookie']);
    if (!waiting) return this.answers.refuseUnknown(context);
    return this.answers.answer(
      completeInteraction,
      waiting,
      context,
      interactionCookies.drop(state, waiting.issuer),
      (record) => this.authorize(waiting, { state, token }, context, record),
    );
  }

  private async authorize(
    waiting: PendingInteraction,
    { state, token }: { state: string; token: string },
    context: HolderContext,
    record: WalletRecord,
  ): Promise<AuthorizationStep> {
    const { id: tenantId } = context.tenant;
    const { userId } = waiting;
    const { claims, claimsToPersist, unusable, providerClaims } = await this.hooks.finish(
      tenantId,
      state,
      waiting,
      token,
    );
    await record.start();
    if (unusable) record.addMetadata({ unusableClaims: namesOfUnusable(unusable) });
    const isKept = await this.users.keepClaims(
      tenantId,
      userId,
      { claims, claimsToPersist },
      withoutRecord(record.events),
    );
    if (!isKept) throw userDeleted();
    return {
      code: await this.codes.issue(tenantId, waiting, { userId, claims: { ...providerClaims, ...claims } }, record),
    };
  }
}
