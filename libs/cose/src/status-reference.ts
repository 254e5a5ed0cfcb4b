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
