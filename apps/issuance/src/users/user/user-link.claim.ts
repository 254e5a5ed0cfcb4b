import { nameClaim } from '@attestry/event-store';

/**
 * The user of a person at an authentication provider. The name is the tenant id and the MAC of provider and subject. `owner`: user id. A
 * deleted user who signs in again becomes another user.
 */
export const userLink = nameClaim({ category: 'userLink', claimed: 'UserLinkClaimed' });
