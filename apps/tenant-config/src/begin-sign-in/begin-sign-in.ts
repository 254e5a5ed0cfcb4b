import { QueryHandler, type IQueryHandler } from '@nestjs/cqrs';
import type { BegunSignIn, beginSignIn as operation, OperationContext } from '@attestry/contracts';
import { eventContext, tenantOf, type RequestOf } from '@attestry/service-kit';
import * as oidc from 'openid-client';
import { authenticationParameters } from '../sign-in/authentication-parameters.js';
import { SignInProviders } from '../sign-in/sign-in-providers.js';

export class BeginSignIn {
  constructor(
    readonly request: RequestOf<typeof operation>,
    readonly context: OperationContext,
  ) {}
}

@QueryHandler(BeginSignIn)
export class BeginSignInHandler implements IQueryHandler<BeginSignIn> {
  constructor(private readonly providers: SignInProviders) {}

  async execute({ request: { body }, context }: BeginSignIn): Promise<BegunSignIn> {
    const { settings, client } = await this.providers.current(tenantOf(context).id, eventContext(context));
    const url = oidc.buildAuthorizationUrl(client, authenticationParameters(settings, body));
    const { providerId, identitySpaceId } = settings;
    return { providerId, ...(identitySpaceId !== undefined && { identitySpaceId }), url: url.href };
  }
}
