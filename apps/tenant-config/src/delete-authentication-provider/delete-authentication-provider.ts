import { deleteAuthenticationProvider, type ClientContext } from '@attestry/contracts';
import { Streams } from '@attestry/event-store';
import { eventContext, Operation, type RequestOf } from '@attestry/service-kit';
import { authenticationProviderClaim } from '../authentication-provider/authentication-provider.claim.js';
import { deleteAuthenticationProvider as decide } from '../authentication-provider/authentication-provider.decisions.js';
import {
  authenticationProvider,
  authenticationProviderStream,
} from '../authentication-provider/authentication-provider.state.js';

/** A reaction to the stored event destroys the secret's key, so that a crash of this process does not prevent it. */
@Operation(deleteAuthenticationProvider)
export class DeleteAuthenticationProvider {
  constructor(private readonly streams: Streams) {}

  async execute(request: RequestOf<typeof deleteAuthenticationProvider>, context: ClientContext): Promise<void> {
    const tenantId = context.tenant.id;
    const { id } = request.params;
    await this.streams.runDecision(
      authenticationProvider,
      authenticationProviderStream(tenantId, id),
      decide,
      eventContext(context),
    );
    // After a crash before this line, the next creation takes the claim over.
    await this.streams.runDecision(
      authenticationProviderClaim,
      authenticationProviderClaim.stream(tenantId),
      (claim) => authenticationProviderClaim.release(claim, { owner: id }),
      eventContext(context),
    );
  }
}
