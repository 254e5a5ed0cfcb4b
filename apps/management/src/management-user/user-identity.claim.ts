import { nameClaim } from '@attestry/event-store';

/** Which user an identity belongs to. The name is the MAC of issuer and subject. `owner`: user id. */
export const userIdentity = nameClaim({ category: 'userIdentity', claimed: 'UserIdentityClaimed' });
