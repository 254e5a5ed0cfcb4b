import { Inject } from '@nestjs/common';
import { updateAuthenticationProvider, type AuthenticationProvider, type ClientContext } from '@attestry/contracts';
import { Streams, type Ids } from '@attestry/event-store';
import { eventContext, IDS, isMaskOf, Operation, type RequestOf } from '@attestry/service-kit';
import {
  checkSecretStays,
  activeProvider,
  intendedClient,
  movedAddress,
  settingsOf,
  updateAuthenticationProvider as decide,
} from '../authentication-provider/authentication-provider.decisions.js';
import {
  authenticationProvider,
  authenticationProviderStream,
} from '../authentication-provider/authentication-provider.state.js';
import { ProviderSecrets } from '../authentication-provider/provider-secrets.js';
import { Discovery } from '../authentication-provider/discovery.js';

/** Users stay linked by provider and subject as long as the address is the same (ADR 0050). */
@Operation(updateAuthenticationProvider)
export class UpdateAuthenticationProvider {
  constructor(
    private readonly streams: Streams,
    private readonly discovery: Discovery,
    private readonly secrets: ProviderSecrets,
    @Inject(IDS) private readonly ids: Ids,
  ) {}

  async execute(
    request: RequestOf<typeof updateAuthenticationProvider>,
    context: ClientContext,
  ): Promise<AuthenticationProvider> {
    const { tenant } = context;
    const { id } = request.params;
    const stream = authenticationProviderStream(tenant.id, id);
    const current = activeProvider((await this.streams.load(authenticationProvider, stream)).state);
    const { clientSecret, url } = request.body;
    const stored = await this.secrets.openSecret(tenant.id, current);
    const isSecretInClear = clientSecret !== undefined && !isMaskOf(clientSecret, stored, 'clientSecret');
    // Before the new address is contacted.
    checkSecretStays(current, { url: this.discovery.accepted(tenant.id, url) }, { isSecretInClear });
    const hasSecret = clientSecret !== undefined || stored !== undefined;
    const client = intendedClient(request.body, hasSecret);
    const settings = settingsOf(request.body, await this.discovery.discoverProvider(tenant.id, url, client));
    // A new address stores it again, even if the secret is the same: the decision treats a secret that is sealed here as one that the
    // caller has.
    const isStoredAgain = isSecretInClear && (clientSecret !== stored || movedAddress(current, settings) !== undefined);
    const sealedSecret = isStoredAgain ? await this.secrets.seal(tenant.id, id, clientSecret) : undefined;
    const { state } = await this.streams.runDecision(
      authenticationProvider,
      stream,
      (before) =>
        decide(
          before,
          { settings, ...(sealedSecret !== undefined && { sealedSecret }) },
          { identitySpaceId: this.ids.uuid() },
        ),
      eventContext(context),
    );
    return this.secrets.viewOf(tenant, activeProvider(state));
  }
}
