import { describeNameClaim } from '@attestry/event-store';
import { authenticationProviderClaim } from './authentication-provider.claim.js';

describeNameClaim(authenticationProviderClaim, {
  name: ['t1'],
  stream: 'authenticationProviderClaim-t1',
  claimed: 'AuthenticationProviderClaimed',
  released: 'AuthenticationProviderClaimReleased',
  refusals: { taken: 'Conflict', pending: 'ServiceUnavailable' },
});
