import { describeNameClaim } from '@attestry/event-store';
import { accountEmail } from './account-email.claim.js';

describeNameClaim(accountEmail, { name: ['mac'], stream: 'accountEmail-mac', claimed: 'AccountEmailClaimed' });
