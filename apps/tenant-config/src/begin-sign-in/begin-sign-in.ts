import { beginSignIn, type BegunSignIn, type TenantServiceContext } from '@attestry/contracts';
import { eventContext, Operation, type RequestOf } from '@attestry/service-kit';
import * as oidc from 'openid-client';
import { authenticationParameters } from '../sign-in/authentication-parameters.js';
import { SignInProviders } from '../sign-in/sign-in-providers.js';

@Operation(beginSignIn)
export class BeginSignIn {
  constructor(private readonly providers: SignInProviders) {}

  async execute({ body }: RequestOf<typeof beginSignIn>, context: TenantServiceContext): Promise<BegunSignIn> {
    const { settings, client } = await this.providers.current(context.tenant.id, eventContext(context));
    const url = oidc.buildAuthorizationUrl(client, authenticationParameters(settings, body));
    const { providerId, identitySpaceId } = settings;
    return { providerId, ...(identitySpaceId !== undefined && { identitySpaceId }), url: url.href };
  }
}
