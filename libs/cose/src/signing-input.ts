/** A credential, or another message, before its signature. */
export interface SigningInput<Message = string> {
  /** Signed with ES256; the signature is raw r and s (RFC 9053 §2.1), as `Signer.sign` of libs/keys returns it. */
  readonly toBeSigned: Uint8Array;
  /** The credential as the wallet receives it; the message as it is served. */
  assemble(signature: Uint8Array): Message;
}
