import { weightedList } from '@attestry/service-kit';

/** Key of a credential issuer, with what the JOSE header shows of it. */
export interface MetadataSigner {
  header: { alg: string; x5c: readonly string[] };
  sign(data: Uint8Array): Promise<Uint8Array>;
}

/** Whether a wallet prefers the signed form, which it must name: without that it might not understand it (OID4VCI 1.0 §12.2.2). */
export const prefersSigned = (accept: string | undefined): boolean => {
  if (accept === undefined) return false;
  const values = weightedList(accept);
  const weightOf = (...types: string[]): number => {
    for (const type of types) {
      const found = values.find(({ value }) => value === type);
      if (found) return found.weight;
    }
    return 0;
  };
  const signed = weightOf('application/jwt');
  return signed > 0 && signed >= weightOf('application/json', 'application/*', '*/*');
};

const encoded = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');

/** Signed metadata (OID4VCI 1.0 §12.2.3): a compact JWS with all members at the top level. */
export const signMetadata = async (
  metadata: Record<string, unknown>,
  { issuer, time }: { issuer: string; time: Date },
  signer: MetadataSigner,
): Promise<string> => {
  const header = encoded({ ...signer.header, typ: 'openidvci-issuer-metadata+jwt' });
  const input = `${header}.${encoded({ ...metadata, sub: issuer, iat: Math.floor(time.getTime() / 1000) })}`;
  return `${input}.${Buffer.from(await signer.sign(Buffer.from(input, 'latin1'))).toString('base64url')}`;
};
