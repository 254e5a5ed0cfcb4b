import { describeNameClaim } from '@attestry/event-store';
import { userIdentity } from './user-identity.claim.js';

describeNameClaim(userIdentity, { name: ['mac'], stream: 'userIdentity-mac', claimed: 'UserIdentityClaimed' });
