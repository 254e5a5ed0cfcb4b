import { Inject, Injectable } from '@nestjs/common';
import { oauthError, type CompletedSignIn, type HttpAnswer } from '@attestry/contracts';
import { Streams, type Clock } from '@attestry/event-store';
import { isErased, Sealing } from '@attestry/keys';
import { CLOCK } from '@attestry/service-kit';
import type { AuthenticatedRequest } from '../authorization-request/pending-authorizations.js';
import { redirect } from '../authorization-request/redirect.js';
import { effectiveHook } from '../../settings/openid-settings/openid-settings.decisions.js';
import { openIdSettings, openIdSettingsStream } from '../../settings/openid-settings/openid-settings.state.js';
import { RecentStates } from '../../reading/recent-states/recent-states.js';
import { user, userStream } from '../../users/user/user.state.js';
import { HookSecrets } from '../../settings/openid-settings/hook-secrets.js';
import {
  INTERACTION_CALLBACK,
  interactionCookies,
  PendingInteractions,
  type PendingInteraction,
} from './pending-interactions.js';
import { makeSessionToken, verifySessionToken, type Interaction, type InteractionResult } from './session-token.js';

interface ActiveHook {
  url: string;
  claims: string[];
  sessionTimeoutInSec: number;
  secretKeyId: string;
  secret: string;
}

/** The page of a tenant that people visit between their sign-in and the code (ADR 0093). */
@Injectable()
export class InteractionHooks {
  constructor(
    private readonly streams: Streams,
    private readonly recent: RecentStates,
    private readonly sealing: Sealing,
    private readonly secrets: HookSecrets,
    private readonly pending: PendingInteractions,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  /** Undefined without a hook, or while it is disabled. */
  async find(tenantId: string): Promise<ActiveHook | undefined> {
    const { state } = await this.recent.loadStored(openIdSettings, openIdSettingsStream(tenantId));
    const { interactionHook: stored } = state;
    if (!stored || stored.disabled) return undefined;
    const secret = await this.secrets.openSecret(tenantId, stored);
    // Replaced since the settings were read.
    if (secret === undefined) throw hookChanged();
    return { ...effectiveHook(stored), secretKeyId: stored.secretKeyId, secret };
  }

  /** Sends the browser to the hook, with the claims that it may get. @throws AppError */
  async start(
    tenantId: string,
    hook: ActiveHook,
    waiting: AuthenticatedRequest,
    { userId, claims }: { userId: string; claims: CompletedSignIn['claims'] },
  ): Promise<HttpAnswer> {
    const { issuer } = waiting;
    const { url, secretKeyId, sessionTimeoutInSec } = hook;
    const binding = this.pending.binding();
    const known = { ...(await this.claimsOfUser(tenantId, userId)), ...claims };
    const token = await makeSessionToken(this.interaction(hook, issuer, binding.id), {
      redirectUrl: `${issuer}${INTERACTION_CALLBACK}`,
      claims: Object.fromEntries(
        hook.claims.flatMap((name) => (Object.hasOwn(known, name) ? [[name, known[name]]] : [])),
      ),
    });
    const sealedClaims = await this.sealing.sealText(tenantId, 'user', userId, JSON.stringify(claims));
    await this.pending.store(
      tenantId,
      binding,
      { ...waiting, userId, sealedClaims, hook: { url, secretKeyId, sessionTimeoutInSec } },
      sessionTimeoutInSec,
    );
    return redirect(`${url}?session_token=${token}`, { 'set-cookie': interactionCookies.set(binding, issuer) });
  }

  /** Result of the hook, and the provider's claims. @throws AppError access_denied */
  async finish(
    tenantId: string,
    state: string,
    waiting: PendingInteraction,
    token: string,
  ): Promise<InteractionResult & { providerClaims: Record<string, unknown> }> {
    const hook = await this.find(tenantId);
    if (hook?.url !== waiting.hook.url || hook.secretKeyId !== waiting.hook.secretKeyId) throw hookChanged();
    const { sessionTimeoutInSec } = waiting.hook;
    const result = await verifySessionToken(
      token,
      this.interaction({ ...hook, sessionTimeoutInSec }, waiting.issuer, state),
    );
    const text = await this.sealing.openSealed(tenantId, 'user', waiting.sealedClaims);
    if (isErased(text)) throw userDeleted();
    return { ...result, providerClaims: JSON.parse(text) as Record<string, unknown> };
  }

  private interaction(
    { url, secret, sessionTimeoutInSec }: Pick<ActiveHook, 'url' | 'secret' | 'sessionTimeoutInSec'>,
    issuer: string,
    state: string,
  ): Interaction {
    return { issuer, hookUrl: url, state, secret, sessionTimeoutInSec, now: this.clock.now() };
  }

  private async claimsOfUser(tenantId: string, userId: string): Promise<Record<string, unknown>> {
    const { state } = await this.streams.load(user, userStream(tenantId, userId));
    if (state.status !== 'active') throw userDeleted();
    if (state.sealedClaims === undefined) return {};
    const text = await this.sealing.openSealed(tenantId, 'user', state.sealedClaims);
    if (isErased(text)) throw userDeleted();
    return JSON.parse(text) as Record<string, unknown>;
  }
}

const hookChanged = () =>
  oauthError('access_denied', 'the interaction hook of the issuer has changed; start again in the wallet', {
    check: 'interaction-hooks',
  });

export const userDeleted = () =>
  oauthError('access_denied', 'the user was deleted; start again in the wallet', { check: 'interaction-hooks' });
