/**
 * An account of the built-in sign-in. E-mail, name and the password's argon2id hash are sealed under a data key of the
 * account's own (owner `platform`, purpose `user`, key id = account id; ADR 0058).
 */
export type AccountEvent = {
  /** Through the link of an invitation, which proves the address. */
  type: 'AccountOpened';
  data: { accountId: string; sealedEmail: string; sealedName: string; sealedPassword: string; openedAt: string };
};
