import { nameClaim } from '@attestry/event-store';

/** The user of an identity. The name is the MAC of issuer and subject. `owner`: user id. */
export const userIdentity = nameClaim({ category: 'userIdentity', claimed: 'UserIdentityClaimed' });
