import type { CborValue } from './cbor.js';

/** Where the status of a credential is published. */
export interface StatusListEntry {
  index: number;
  uri: string;
}

/** The claim `status` of a referenced token in CBOR, Token Status List §6.3. */
export const statusListReference = ({ index, uri }: StatusListEntry): CborValue => ({
  status_list: { idx: index, uri },
});

/** Where an mdoc is published once it is revoked. */
export interface IdentifierListEntry {
  id: Uint8Array;
  uri: string;
}

/** `status` of the mobile security object, ISO/IEC 18013-5, second edition, §12.3.6. */
export const identifierListReference = ({ id, uri }: IdentifierListEntry): CborValue => ({
  identifier_list: { id, uri },
});
