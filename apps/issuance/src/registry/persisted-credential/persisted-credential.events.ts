/** The document of an issued credential whose configuration has `persist: true`. */
export type PersistedCredentialEvent =
  | {
      /** Appended together with `CredentialRecorded`. */
      type: 'CredentialPersisted';
      data: {
        credentialId: string;
        userId: string;
        /**
         * JSON of the credential, sealed under the key of the user, and the result under a key with the id of the credential (both of purpose
         * `user`): destroying either key makes it unreadable.
         */
        sealed: string;
      };
    }
  /** The credential was deleted, and its key destroyed before. */
  | { type: 'PersistedCredentialErased'; data: { credentialId: string; destroyedKeys: string[] } };

export type CredentialPersistedData = Extract<PersistedCredentialEvent, { type: 'CredentialPersisted' }>['data'];
