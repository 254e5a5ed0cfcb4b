import { nameClaim } from '@attestry/event-store';

/** The user who has an e-mail address. The name is the MAC of the address in lower case. `owner`: user id. */
export const userEmail = nameClaim({
  category: 'userEmail',
  claimed: 'UserEmailClaimed',
  released: 'UserEmailReleased',
});
