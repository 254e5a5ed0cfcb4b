import { nameClaim } from '@attestry/event-store';

/**
 * The account of the built-in sign-in that has an e-mail address. The name is the MAC of the address in lower case. `owner`: account id.
 */
export const accountEmail = nameClaim({ category: 'accountEmail', claimed: 'AccountEmailClaimed' });
