import { describeNameClaim } from '@attestry/event-store';
import { userEmail } from './user-email.claim.js';

describeNameClaim(userEmail, {
  name: ['mac'],
  stream: 'userEmail-mac',
  claimed: 'UserEmailClaimed',
  released: 'UserEmailReleased',
});
