import { generateKeyPairSync, randomBytes, sign, X509Certificate } from 'node:crypto';
import { createDocumentSigner, createIaca, documentSignerPeriod, type CertificateKey } from '@attestry/certificates';
import { prepareMdoc, type UnsignedMdoc } from '@attestry/cose';
import { verifyMdoc } from './verify-mdoc.js';

const newKey = () => {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const signWith = (data: Uint8Array) => sign('sha256', data, { key: privateKey, dsaEncoding: 'ieee-p1363' });
  const key: CertificateKey = { publicKey, signAside: (data) => Promise.resolve(signWith(data)) };
  return { key, signWith, publicKey, privateJwk: privateKey.export({ format: 'jwk' }) };
};
const random = (length: number) => randomBytes(length);
const HOUR = 3_600_000;
const now = new Date(Math.floor(Date.now() / HOUR) * HOUR);
const later = (hours: number) => new Date(now.getTime() + hours * HOUR);

const [iacaKey, signerKey, device] = [newKey(), newKey(), newKey()];
const authority = async (country: string) =>
  createIaca({
    key: iacaKey.key,
    subject: { commonName: 'Roads IACA', country },
    notBefore: later(-1),
    notAfter: later(24 * 3650),
    issuerUrl: 'https://roads.example',
    crlUrl: 'https://roads.example/crl',
    random,
  });
const issue = async (changes: Partial<UnsignedMdoc> = {}, signWith = signerKey.signWith) => {
  const iaca = await authority('AU');
  const { notBefore, notAfter } = documentSignerPeriod('mDL', later(-1), iaca);
  const signer = await createDocumentSigner({
    ...{ iaca: iaca.der, iacaKey: iacaKey.key, publicKey: signerKey.publicKey, commonName: 'Roads signer' },
    ...{ notBefore, notAfter, random },
  });
  const docType = 'org.iso.18013.5.1.mDL';
  const prepared = prepareMdoc({
    docType,
    namespaces: {
      'org.iso.18013.5.1': {
        family_name: { value: 'Lovelace', type: 'string' },
        birth_date: { value: '1990-12-10', type: 'date' },
        portrait: { value: 'AQID', type: 'binary' },
        issuing_country: { value: 'AU', type: 'string' },
        driving_privileges: { value: [{ vehicle_category_code: 'B', issue_date: '2020-01-31' }], type: 'array' },
      },
      'org.example.1': {
        member: { value: true, type: 'boolean' },
        points: { value: 12, type: 'number' },
        since: { value: '2020-01-31T12:00:00+01:00', type: 'dateTime' },
        address: { value: { city: 'Perth', lines: ['a', null] }, type: 'object' },
      },
    },
    deviceKey: device.publicKey.export({ format: 'jwk' }) as UnsignedMdoc['deviceKey'],
    validity: { signed: now, validFrom: now, validUntil: later(48) },
    documentSigner: signer.der,
    random,
    ...changes,
  });
  const credential = prepared.assemble(signWith(prepared.toBeSigned));
  return { credential, docType, deviceKey: device.privateJwk, iacas: [iaca.pem], signer };
};

describe('an mdoc, its signer and its IACA, verified by @auth0/mdl', () => {
  it('are accepted, with every element as its type', async () => {
    const verified = await verifyMdoc(await issue());
    const { portrait, ...others } = verified['org.iso.18013.5.1']!;
    expect(Buffer.from(portrait as Uint8Array)).toEqual(Buffer.from([1, 2, 3]));
    expect(others).toMatchObject({ family_name: 'Lovelace', issuing_country: 'AU' });
    expect((others['birth_date'] as Date).toISOString()).toMatch(/^1990-12-10/);
    expect(verified['org.example.1']).toMatchObject({ member: true, points: 12 });
    expect((verified['org.example.1']!['since'] as Date).toISOString()).toBe('2020-01-31T11:00:00.000Z');
  });

  it('are refused with another root, another device key, another signature or a changed element', async () => {
    const mdoc = await issue();
    const other = newKey();
    const stranger = await createIaca({
      ...{ key: other.key, subject: { commonName: 'Roads IACA', country: 'AU' }, notBefore: later(-1) },
      ...{
        notAfter: later(24 * 3650),
        issuerUrl: 'https://roads.example',
        crlUrl: 'https://roads.example/crl',
        random,
      },
    });
    await expect(verifyMdoc({ ...mdoc, iacas: [stranger.pem] })).rejects.toThrow('No valid certificate paths found');
    await expect(verifyMdoc({ ...mdoc, deviceKey: other.privateJwk })).rejects.toThrow(
      'Device signature must be valid',
    );
    await expect(verifyMdoc(await issue({}, other.signWith))).rejects.toThrow('Issuer signature must be valid');
    const bytes = Buffer.from(mdoc.credential, 'base64url');
    bytes.write('Lovelady', bytes.indexOf('Lovelace'));
    await expect(verifyMdoc({ ...mdoc, credential: bytes.toString('base64url') })).rejects.toThrow(
      'org.iso.18013.5.1/family_name',
    );
  });

  it.each([
    ['expired', { signed: later(-1), validFrom: later(-1), validUntil: later(0) }],
    ['not valid yet', { signed: now, validFrom: later(2), validUntil: later(48) }],
    ['signed before its signer', { signed: later(-2), validFrom: now, validUntil: later(48) }],
  ])('are refused when the mdoc is %s', async (_, validity) => {
    await expect(verifyMdoc(await issue({ validity }))).rejects.toThrow(
      /must be valid at the time of verification|must be within the validity period/,
    );
  });

  it('have the country of the IACA in the certificate of the signer', async () => {
    const { signer } = await issue();
    expect(new X509Certificate(signer.der).subject).toBe('C=AU\nCN=Roads signer');
  });
});
