import { QueryHandler, type IQueryHandler } from '@nestjs/cqrs';
import type { AuthenticationProvider, OperationContext, retrieveAuthenticationProvider } from '@attestry/contracts';
import { Streams } from '@attestry/event-store';
import { tenantOf, type RequestOf } from '@attestry/service-kit';
import { living } from '../authentication-provider/authentication-provider.decisions.js';
import {
  authenticationProvider,
  authenticationProviderStream,
} from '../authentication-provider/authentication-provider.state.js';
import { ProviderSecrets } from '../authentication-provider/provider-secrets.js';

export class RetrieveAuthenticationProvider {
  constructor(
    readonly request: RequestOf<typeof retrieveAuthenticationProvider>,
    readonly context: OperationContext,
  ) {}
}

@QueryHandler(RetrieveAuthenticationProvider)
export class RetrieveAuthenticationProviderHandler implements IQueryHandler<RetrieveAuthenticationProvider> {
  constructor(
    private readonly streams: Streams,
    private readonly secrets: ProviderSecrets,
  ) {}

  async execute({ request, context }: RetrieveAuthenticationProvider): Promise<AuthenticationProvider> {
    const tenant = tenantOf(context);
    const stream = authenticationProviderStream(tenant.id, request.params.id);
    return this.secrets.viewOf(tenant, living((await this.streams.load(authenticationProvider, stream)).state));
  }
}
