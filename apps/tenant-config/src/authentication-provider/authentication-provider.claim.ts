import { conflict, unavailable } from '@attestry/contracts';
import { nameClaim } from '@attestry/event-store';

/** The tenant's only authentication provider. The name is the tenant id. `owner`: provider id. */
export const authenticationProviderClaim = nameClaim({
  category: 'authenticationProviderClaim',
  claimed: 'AuthenticationProviderClaimed',
  released: 'AuthenticationProviderClaimReleased',
  refusal: (_claimant, obstacle) =>
    obstacle === 'taken'
      ? conflict('The tenant already has an authentication provider')
      : unavailable('Another request is creating an authentication provider'),
});
