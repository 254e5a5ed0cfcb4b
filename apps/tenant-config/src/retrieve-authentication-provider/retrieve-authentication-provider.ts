import { retrieveAuthenticationProvider, type AuthenticationProvider, type ClientContext } from '@attestry/contracts';
import { Streams } from '@attestry/event-store';
import { Operation, type RequestOf } from '@attestry/service-kit';
import { activeProvider } from '../authentication-provider/authentication-provider.decisions.js';
import {
  authenticationProvider,
  authenticationProviderStream,
} from '../authentication-provider/authentication-provider.state.js';
import { ProviderSecrets } from '../authentication-provider/provider-secrets.js';

@Operation(retrieveAuthenticationProvider)
export class RetrieveAuthenticationProvider {
  constructor(
    private readonly streams: Streams,
    private readonly secrets: ProviderSecrets,
  ) {}

  async execute(
    request: RequestOf<typeof retrieveAuthenticationProvider>,
    { tenant }: ClientContext,
  ): Promise<AuthenticationProvider> {
    const stream = authenticationProviderStream(tenant.id, request.params.id);
    return this.secrets.viewOf(tenant, activeProvider((await this.streams.load(authenticationProvider, stream)).state));
  }
}
