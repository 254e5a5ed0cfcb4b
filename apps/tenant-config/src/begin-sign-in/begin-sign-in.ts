import {
  asciiAddress,
  beginSignIn,
  withParameters,
  type BegunSignIn,
  type TenantServiceContext,
} from '@attestry/contracts';
import { eventContext, Operation, type RequestOf } from '@attestry/service-kit';
import { authenticationParameters } from '../sign-in/authentication-parameters.js';
import { SignInProviders } from '../sign-in/sign-in-providers.js';

@Operation(beginSignIn)
export class BeginSignIn {
  constructor(private readonly providers: SignInProviders) {}

  async execute({ body }: RequestOf<typeof beginSignIn>, context: TenantServiceContext): Promise<BegunSignIn> {
    const { settings, client } = await this.providers.current(context.tenant.id, eventContext(context));
    const parameters = authenticationParameters(settings, body);
    parameters.set('client_id', settings.clientId);
    // RFC 6749 §3.1: the query of the endpoint is retained, and no parameter is sent twice.
    const url = withParameters(asciiAddress(client.serverMetadata().authorization_endpoint!), parameters);
    const { providerId, identitySpaceId } = settings;
    return { providerId, ...(identitySpaceId !== undefined && { identitySpaceId }), url };
  }
}
