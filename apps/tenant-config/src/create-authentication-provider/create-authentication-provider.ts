import { Inject } from '@nestjs/common';
import { createAuthenticationProvider, type AuthenticationProvider, type ContextOf } from '@attestry/contracts';
import { Streams, type Clock, type Ids, type NameClaimState } from '@attestry/event-store';
import { CLOCK, eventContext, idFor, IDS, leavesUnusedKeys, Operation, type RequestOf } from '@attestry/service-kit';
import { authenticationProviderClaim } from '../authentication-provider/authentication-provider.claim.js';
import {
  createAuthenticationProvider as decide,
  activeProvider,
  intendedClient,
  settingsOf,
} from '../authentication-provider/authentication-provider.decisions.js';
import {
  authenticationProvider,
  authenticationProviderStream,
} from '../authentication-provider/authentication-provider.state.js';
import { ProviderSecrets } from '../authentication-provider/provider-secrets.js';
import { Discovery } from '../authentication-provider/discovery.js';

/** Two streams: the claim first, so that a failure between the two blocks the tenant for a minute and never creates a second provider. */
@Operation(createAuthenticationProvider)
export class CreateAuthenticationProvider {
  constructor(
    private readonly streams: Streams,
    private readonly discovery: Discovery,
    private readonly secrets: ProviderSecrets,
    @Inject(CLOCK) private readonly clock: Clock,
    @Inject(IDS) private readonly ids: Ids,
  ) {}

  async execute(
    { body }: RequestOf<typeof createAuthenticationProvider>,
    context: ContextOf<typeof createAuthenticationProvider>,
  ): Promise<AuthenticationProvider> {
    const { tenant } = context;
    const claims = authenticationProviderClaim.stream(tenant.id);
    const providerId = idFor(context, 'provider', this.ids);
    const now = () => this.clock.now().toISOString();
    const claim = async (state: NameClaimState) =>
      authenticationProviderClaim.claim(
        state,
        { owner: providerId },
        { now: now(), ownerStatus: await this.statusOf(tenant.id, state) },
      );
    // A tenant that has a provider is refused before any document is fetched.
    await claim((await this.streams.load(authenticationProviderClaim, claims)).state);
    const settings = settingsOf(
      body,
      await this.discovery.discoverProvider(tenant.id, body.url, intendedClient(body, body.clientSecret !== undefined)),
    );
    await this.streams.runDecision(authenticationProviderClaim, claims, claim, eventContext(context));
    const { clientSecret } = body;
    const secret =
      clientSecret === undefined ? undefined : await this.secrets.sealForNew(tenant.id, providerId, clientSecret);
    try {
      const { state } = await this.streams.runDecision(
        authenticationProvider,
        authenticationProviderStream(tenant.id, providerId),
        (current) =>
          decide(current, { providerId, settings, ...(secret && { sealedSecret: secret.sealed }) }, { now: now() }),
        eventContext(context),
        { once: true },
      );
      return await this.secrets.viewOf(tenant, activeProvider(state));
    } catch (error) {
      if (leavesUnusedKeys(context, error)) await this.secrets.destroy(tenant.id, providerId);
      throw error;
    }
  }

  private async statusOf(tenantId: string, claim: NameClaimState): Promise<'absent' | 'active' | 'deleted'> {
    if (claim.status === 'free') return 'absent';
    const stream = authenticationProviderStream(tenantId, claim.owner);
    return (await this.streams.load(authenticationProvider, stream)).state.status;
  }
}
