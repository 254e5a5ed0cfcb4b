import { describeNameClaim } from '@attestry/event-store';
import { userLink } from './user-link.claim.js';

describeNameClaim(userLink, { name: ['t1', 'mac'], stream: 'userLink-t1+mac', claimed: 'UserLinkClaimed' });
