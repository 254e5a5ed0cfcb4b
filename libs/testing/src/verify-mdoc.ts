import { exportJWK, type JWK } from 'jose';

export interface PresentedMdoc {
  /** Unpadded base64url, as a wallet receives it. */
  credential: string;
  docType: string;
  /** The wallet's private key. */
  deviceKey: JWK | CryptoKey;
  /** PEM of the roots that the verifier trusts. */
  iacas: readonly string[];
}

/**
 * Presents every element of an mdoc with the wallet's key and verifies the presentation with @auth0/mdl: chain, signature, digests,
 * validity and the key that the mdoc is bound to.
 * @returns value by element, by namespace
 * @throws Error with what the library found
 */
export const verifyMdoc = async (presented: PresentedMdoc): Promise<Record<string, Record<string, unknown>>> => {
  const { DeviceResponse, parse, Verifier } = await import('@auth0/mdl');
  const held = parse(asResponse(presented));
  const fields = Object.entries(held.documents[0]!.issuerSigned.nameSpaces).flatMap(([namespace, items]) =>
    items.map(({ elementIdentifier }) => ({
      path: [`$['${namespace}']['${elementIdentifier}']`],
      intent_to_retain: false,
    })),
  );
  const deviceKey =
    presented.deviceKey instanceof CryptoKey ? await exportJWK(presented.deviceKey) : presented.deviceKey;
  const format = { mso_mdoc: { alg: ['ES256'] } };
  const constraints = { limit_disclosure: 'required', fields };
  const response = await DeviceResponse.from(held)
    .usingPresentationDefinition({ id: 'all', input_descriptors: [{ id: presented.docType, format, constraints }] })
    .usingSessionTranscriptBytes(TRANSCRIPT)
    .authenticateWithSignature(deviceKey, 'ES256')
    .sign();
  const verifier = new Verifier([...presented.iacas]);
  const verified = await verifier.verify(response.encode(), { encodedSessionTranscript: TRANSCRIPT });
  const [document] = verified.documents;
  return Object.fromEntries(
    document!.issuerSignedNameSpaces.map((namespace) => [namespace, { ...document!.getIssuerNameSpace(namespace) }]),
  );
};

/** `24(<<[null, null, null]>>)`: both sides know it. */
const TRANSCRIPT = Buffer.from('d8184483f6f6f6', 'hex');

/** A DeviceResponse of ISO/IEC 18013-5 §8.3.2.1.2.2 without device signature: the form in which the library reads an mdoc. */
const asResponse = ({ credential, docType }: PresentedMdoc): Buffer =>
  Buffer.concat([
    Buffer.of(0xa3),
    ...[text('version'), text('1.0'), text('status'), Buffer.of(0), text('documents'), Buffer.of(0x81, 0xa2)],
    ...[text('docType'), text(docType), text('issuerSigned'), Buffer.from(credential, 'base64url')],
  ]);

/** CBOR text of at most 255 bytes. */
const text = (value: string): Buffer => {
  const bytes = Buffer.from(value, 'utf8');
  return Buffer.concat([Buffer.of(0x78, bytes.length), bytes]);
};
