/** The package has no types; these are the ones that the library uses. */
declare module '@digitalbazaar/bbs-signatures' {
  interface Signed {
    publicKey: Uint8Array;
    header: Uint8Array;
    messages: Uint8Array[];
    ciphersuite: string;
  }
  export const CIPHERSUITES: { BLS12381_SHA256: string };
  export function sign(options: Signed & { secretKey: Uint8Array }): Promise<Uint8Array>;
  export function deriveProof(
    options: Signed & { signature: Uint8Array; presentationHeader: Uint8Array; disclosedMessageIndexes: number[] },
  ): Promise<Uint8Array>;
  export function verifyProof(
    options: Omit<Signed, 'messages'> & {
      proof: Uint8Array;
      presentationHeader: Uint8Array;
      disclosedMessages: Uint8Array[];
      disclosedMessageIndexes: number[];
    },
  ): Promise<boolean>;
}
