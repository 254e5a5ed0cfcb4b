import { webcrypto, X509Certificate } from 'node:crypto';
import { inflateSync } from 'node:zlib';
import type { Tag } from 'cbor2';
import { fetchStatusList } from './fetch-status-list.js';

type Sign1 = [Uint8Array, Map<number, unknown>, Uint8Array, Uint8Array];
interface IssuerSigned {
  nameSpaces: Record<string, Tag[]>;
  issuerAuth: Sign1;
}
interface Mso {
  validityInfo: Record<string, Tag>;
  status?: Status;
}
interface Status {
  status_list?: { idx: number; uri: string };
  identifier_list?: { id: Uint8Array; uri: string };
}

/** The status of an mdoc as its mobile security object has it, read with cbor2; undefined where it has none. */
export const mdocStatus = async (credential: string): Promise<Status['status_list']> =>
  (await statusOf(credential))?.status_list;

/** The same of an mdoc that is in an identifier list. */
export const mdocIdentifier = async (credential: string): Promise<Status['identifier_list']> =>
  (await statusOf(credential))?.identifier_list;

/** Values that could link the copies of one request: the salts, in base64url, and the times of the mobile security object. */
export const mdocTraces = async (credential: string): Promise<{ salts: string[]; times: Record<string, string> }> => {
  const { items, mso } = await readMdoc(credential);
  return {
    salts: items.map(({ random }) => Buffer.from(random).toString('base64url')),
    times: Object.fromEntries(
      Object.entries(mso.validityInfo).map(([name, { contents }]) => [name, contents as string]),
    ),
  };
};

const statusOf = async (credential: string): Promise<Status | undefined> => (await readMdoc(credential)).mso.status;

/** The elements with their salts, and the mobile security object, not verified. */
const readMdoc = async (credential: string): Promise<{ items: { random: Uint8Array }[]; mso: Mso }> => {
  const { decode } = await import('cbor2');
  // A Buffer would be decoded to Buffers.
  const read = <T>(bytes: Uint8Array): T => decode<T>(new Uint8Array(bytes), { ignoreGlobalTags: true });
  const inTag = <T>({ contents }: Tag): T => read<T>(contents as Uint8Array);
  const { nameSpaces, issuerAuth } = read<IssuerSigned>(Buffer.from(credential, 'base64url'));
  return {
    items: Object.values(nameSpaces).flatMap((items) => items.map((item) => inTag<{ random: Uint8Array }>(item))),
    mso: inTag<Mso>(read<Tag>(issuerAuth[2])),
  };
};

/**
 * Checks the status of an mdoc in a fresh token with cbor2 and WebCrypto: signature, chain to the IACA, `typ`, `sub`, times and the entry
 * (Token Status List §8.3) or the identifiers (ISO/IEC 18013-5, second edition, §12.3.6.4).
 * @param iacas PEM of the roots that the verifier trusts
 * @throws Error with what was found; `Status is not valid` for any status but 0, VALID, or where the identifier is in the list
 */
export const verifyMdocStatus = async (credential: string, iacas: readonly string[]): Promise<void> => {
  const { cdeEncodeOptions, decode, encode } = await import('cbor2');
  const { status_list, identifier_list } = (await statusOf(credential)) ?? {};
  const status = status_list ?? identifier_list;
  if (!status) throw new Error('the document has no status');
  const expected = `application/${status_list ? 'statuslist' : 'identifierlist'}+cwt`;
  const response = await fetchStatusList(status.uri, expected);
  if (!response.ok) throw new Error(`${status.uri} answered ${response.status}`);
  const mediaType = response.headers.get('content-type');
  if (mediaType !== expected) throw new Error(`${status.uri} has the media type ${mediaType}`);
  const options = { ignoreGlobalTags: true, preferMap: true };
  const { tag, contents } = decode<Tag>(new Uint8Array(await response.arrayBuffer()), options);
  const [header, , payload, signature] = contents as Sign1;
  const parameters = decode<Map<number, unknown>>(header, options);
  if (tag !== 18 || parameters.get(1) !== -7 || parameters.get(16) !== expected)
    throw new Error('the token is no COSE_Sign1 of ES256 with the type of a status list');
  const signer = new X509Certificate(parameters.get(33) as Uint8Array);
  const roots = iacas.map((pem) => new X509Certificate(pem));
  if (!roots.some((root) => signer.checkIssued(root) && signer.verify(root.publicKey)))
    throw new Error('no trusted IACA issued the certificate of the signer');
  const algorithm = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' };
  const spki = signer.publicKey.export({ format: 'der', type: 'spki' });
  const key = await webcrypto.subtle.importKey('spki', spki, algorithm, false, ['verify']);
  const signed = encode(['Signature1', header, new Uint8Array(), payload], cdeEncodeOptions);
  if (!(await webcrypto.subtle.verify(algorithm, key, Buffer.from(signature), Buffer.from(signed))))
    throw new Error('the signature of the token is invalid');
  const claims = decode<Map<number, unknown>>(payload, options);
  const now = Date.now() / 1000;
  if (claims.get(2) !== status.uri) throw new Error('the token is of another list');
  if (!((claims.get(6) as number) <= now && now < (claims.get(4) as number)))
    throw new Error('the token is not valid at this time');
  if (!((claims.get(65534) as number) > 0)) throw new Error('the token has no time to live');
  if (identifier_list) {
    if (claims.has(65533)) throw new Error('the token is a status list');
    const { identifiers } = Object.fromEntries(claims.get(65530) as Map<string, Map<Uint8Array, unknown>>);
    if ([...identifiers!.keys()].some((id) => Buffer.from(id).equals(identifier_list.id)))
      throw new Error('Status is not valid');
    return;
  }
  const { idx } = status_list!;
  const list = claims.get(65533) as Map<string, unknown>;
  const [bits, bytes] = [list.get('bits') as number, inflateSync(list.get('lst') as Uint8Array)];
  const shift = (idx * bits) % 8;
  if ((bytes[Math.floor((idx * bits) / 8)]! >> shift) & (2 ** bits - 1)) throw new Error('Status is not valid');
};
