import {
  invalid,
  listAuthenticationProviders,
  type AuthenticationProvider,
  type ClientContext,
  type PageOf,
} from '@attestry/contracts';
import { Streams } from '@attestry/event-store';
import { Operation, type RequestOf } from '@attestry/service-kit';
import { authenticationProviderClaim } from '../authentication-provider/authentication-provider.claim.js';
import {
  authenticationProvider,
  authenticationProviderStream,
} from '../authentication-provider/authentication-provider.state.js';
import { ProviderSecrets } from '../authentication-provider/provider-secrets.js';

/**
 * A tenant has at most one, so the list is read from its two streams, and needs no projection. There is one page and no cursor.
 */
@Operation(listAuthenticationProviders)
export class ListAuthenticationProviders {
  constructor(
    private readonly streams: Streams,
    private readonly secrets: ProviderSecrets,
  ) {}

  async execute(
    request: RequestOf<typeof listAuthenticationProviders>,
    context: ClientContext,
  ): Promise<PageOf<AuthenticationProvider>> {
    const { tenant } = context;
    if (request.query.cursor !== undefined)
      throw invalid({ msg: 'must be a nextCursor of this list', param: 'cursor', location: 'query' });
    const claim = (await this.streams.load(authenticationProviderClaim, authenticationProviderClaim.stream(tenant.id)))
      .state;
    if (claim.status === 'free') return { data: [] };
    const stream = authenticationProviderStream(tenant.id, claim.owner);
    const { state } = await this.streams.load(authenticationProvider, stream);
    return { data: state.status === 'active' ? [await this.secrets.viewOf(tenant, state)] : [] };
  }
}
