import { execFileSync } from 'node:child_process';
import { generateKeyPairSync, randomBytes, sign, type KeyObject } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Extension, Name, X509CrlGenerator } from '@peculiar/x509';
import { hasOpenssl, skipSuite } from '@attestry/testing';
import { CertificateFault } from './certificate-fault.js';
import { SIGNING_KEY, signingCrypto, type CertificateKey } from './certificate-key.js';
import { createDocumentSignerRequest, parseDocumentSigner } from './document-signer.js';
import { createIaca, parseIaca } from './iaca.js';
import { createRevocationList, parseRevocationList } from './revocation-list.js';

if (!hasOpenssl()) skipSuite("customers' certificates", 'openssl is not installed (Debian: apt install openssl)');
const suite = hasOpenssl() ? describe : describe.skip;

let folder: string;
beforeAll(() => (folder = mkdtempSync(join(tmpdir(), 'customer-'))));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const path = (name: string) => join(folder, name);
const openssl = (...args: string[]): string => execFileSync('openssl', args, { encoding: 'utf8', stdio: 'pipe' });

const DAY = 86_400_000;
const now = new Date(Math.floor(Date.now() / 1000) * 1000);
const after = (days: number) => new Date(now.getTime() + days * DAY);
const faultsOf = async (parse: () => unknown): Promise<readonly string[]> => {
  try {
    await parse();
    return [];
  } catch (error) {
    if (error instanceof CertificateFault) return error.faults;
    throw error;
  }
};

const IACA_EXTENSIONS: Record<string, string> = {
  basicConstraints: 'critical,CA:TRUE,pathlen:0',
  keyUsage: 'critical,keyCertSign,cRLSign',
  subjectKeyIdentifier: 'hash',
  authorityKeyIdentifier: 'none',
  issuerAltName: 'URI:https://customer.example',
  crlDistributionPoints: 'URI:https://customer.example/crl',
};
const SIGNER_EXTENSIONS: Record<string, string> = {
  keyUsage: 'critical,digitalSignature',
  extendedKeyUsage: 'critical,1.0.18013.5.1.2',
  subjectKeyIdentifier: 'hash',
  authorityKeyIdentifier: 'keyid:always',
  issuerAltName: 'email:pki@customer.example',
  crlDistributionPoints: 'URI:http://customer.example/crl',
};
type Changes = Record<string, string | undefined>;
const configOf = (extensions: Changes): string => {
  const lines = Object.entries(extensions).filter(([, value]) => value !== undefined);
  const config = ['[req]', 'distinguished_name=dn', 'prompt=no', '[dn]', 'CN=unused', '[ext]'];
  writeFileSync(path('openssl.cnf'), [...config, ...lines.map(([name, value]) => `${name}=${value}`)].join('\n'));
  return path('openssl.cnf');
};

/** Files that a customer makes with openssl: PEM and the path of the key. */
const customerIaca = (
  changes: Changes = {},
  { subject = '/C=AU/ST=AU-NSW/CN=Customer IACA', days = 3650, curve = 'P-256', begin = [] as string[] } = {},
): { pem: string; key: string } => {
  const key = path(`${randomBytes(8).toString('hex')}.key`);
  openssl('ecparam', '-name', curve === 'P-256' ? 'prime256v1' : curve, '-genkey', '-noout', '-out', key);
  const pem = openssl(
    ...['req', '-new', '-x509', '-key', key, '-subj', subject, '-days', `${days}`, '-sha256', ...begin],
    ...['-config', configOf({ ...IACA_EXTENSIONS, ...changes }), '-extensions', 'ext'],
  );
  return { pem, key };
};
/** One for tests that only need some authority. */
const anyIaca = (): ReturnType<typeof customerIaca> => (madeIaca ??= customerIaca());
let madeIaca: ReturnType<typeof customerIaca> | undefined;

/** A CRL with the number 256, in PEM, from the lines of openssl's database. */
const revocationList = (iaca: { pem: string; key: string }, database: string): string => {
  const files = { 'index.txt': database, crlnumber: '0100\n', 'ca.pem': iaca.pem };
  for (const [name, content] of Object.entries(files)) writeFileSync(path(name), content);
  const config = ['[ca]', 'default_ca=d', '[d]', `database=${path('index.txt')}`, `crlnumber=${path('crlnumber')}`];
  writeFileSync(path('ca.cnf'), [...config, 'default_md=sha384', 'crl_extensions=e', '[e]', EXTENSION].join('\n'));
  const signer = ['-cert', path('ca.pem'), '-keyfile', iaca.key];
  return openssl('ca', '-gencrl', '-config', path('ca.cnf'), ...signer, '-crldays', '30');
};
const EXTENSION = 'issuerAltName=URI:https://customer.example';
const derOf = (pem: string): Uint8Array => Buffer.from(pem.replaceAll(/-----[^-]+-----|\s/g, ''), 'base64');

const newKey = (): CertificateKey & { privateKey: KeyObject } => {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const key = { key: privateKey, dsaEncoding: 'ieee-p1363' as const };
  return { publicKey, privateKey, signAside: (data) => Promise.resolve(sign('sha256', data, key)) };
};

suite("a customer's IACA", () => {
  it.each(['P-256', 'secp384r1', 'secp521r1'])('made with openssl on %s is accepted and described', (curve) => {
    const { pem } = customerIaca({}, { curve });
    expect(parseIaca(pem, after(1))).toMatchObject({
      subject: { commonName: 'Customer IACA', country: 'AU', stateOrProvinceName: 'AU-NSW' },
      fingerprint: expect.stringMatching(/^[0-9a-f]{64}$/) as string,
    });
    expect(parseIaca(`subject=/C=AU\n${pem}\n`, after(1)).pem.trim()).toBe(pem.trim());
  });

  it.each([
    [{ issuerAltName: 'URI:https://Customer.example:8443/pki' }, ['customer.example']],
    [{ issuerAltName: 'email:pki@Customer.example' }, ['customer.example']],
    [{ issuerAltName: 'URI:urn:example:issuer' }, []],
    [
      {
        issuerAltName: 'URI:https://a.example,email:pki@b.example',
        subjectAltName: 'DNS:C.example,URI:https://a.example',
      },
      ['a.example', 'b.example', 'c.example'],
    ],
  ])('with %j has the hosts %j', (names, hosts) => {
    expect(parseIaca(customerIaca(names).pem, after(1)).hosts).toEqual(hosts);
  });

  it('made by the platform is accepted', async () => {
    const facts = {
      notBefore: now,
      notAfter: after(3650),
      issuerUrl: 'https://a.example',
      crlUrl: 'https://a.example/crl',
    };
    const made = await createIaca({
      ...facts,
      key: newKey(),
      subject: { commonName: 'A', country: 'AU' },
      random: (length) => randomBytes(length),
    });
    expect(parseIaca(made.pem, after(1))).toEqual(made);
  });

  const PEM_RULE = 'must be one certificate in PEM, beginning with -----BEGIN CERTIFICATE-----';
  it.each<[string, (pem: string) => string, string]>([
    ['empty', () => '', PEM_RULE],
    ['no PEM', () => 'MIIB', PEM_RULE],
    ['two certificates', (pem) => pem + pem, PEM_RULE],
    ['another object', (pem) => pem.replaceAll('CERTIFICATE', 'PRIVATE KEY'), PEM_RULE],
    ['DER in base64', (pem) => Buffer.from(derOf(pem)).toString('base64'), PEM_RULE],
    [
      'cut off',
      (pem) => pem.replace(/\n[^\n]+\n(-----END)/, '\n$1'),
      'must be an X.509 certificate: its content cannot be decoded',
    ],
    [
      'no certificate inside',
      (pem) => pem.replace(/M[^-]+/, 'AAAA\n'),
      'must be an X.509 certificate: its content cannot be decoded',
    ],
  ])('is refused when it is %s', async (_, change, fault) => {
    const { pem } = anyIaca();
    expect(await faultsOf(() => parseIaca(change(pem), now))).toEqual([fault]);
  });

  const AUTHORITY = 'must have critical basic constraints of a CA with path length 0';
  const USAGE = 'must have the critical key usages keyCertSign and cRLSign, and no other';
  const NAME = 'must have an issuer alternative name that is an e-mail address or a URI';
  const POINT = 'must have a CRL distribution point that is a URI';
  it.each<[string, Changes, string]>([
    ['no CA', { basicConstraints: 'critical,CA:FALSE' }, AUTHORITY],
    ['a longer path', { basicConstraints: 'critical,CA:TRUE,pathlen:1' }, AUTHORITY],
    ['any path length', { basicConstraints: 'critical,CA:TRUE' }, AUTHORITY],
    ['basic constraints that are not critical', { basicConstraints: 'CA:TRUE,pathlen:0' }, AUTHORITY],
    ['no basic constraints', { basicConstraints: undefined }, AUTHORITY],
    ['one usage', { keyUsage: 'critical,keyCertSign' }, USAGE],
    ['a further usage', { keyUsage: 'critical,keyCertSign,cRLSign,digitalSignature' }, USAGE],
    ['usages that are not critical', { keyUsage: 'keyCertSign,cRLSign' }, USAGE],
    ['no usages', { keyUsage: undefined }, USAGE],
    ['no key identifier', { subjectKeyIdentifier: 'none' }, 'must have a subject key identifier'],
    ['no alternative name', { issuerAltName: undefined }, NAME],
    ['a host name as alternative name', { issuerAltName: 'DNS:customer.example' }, NAME],
    ['no distribution point', { crlDistributionPoints: undefined }, POINT],
    ['a distribution point that is no web address', { crlDistributionPoints: 'URI:ldap://customer.example' }, POINT],
    [
      'an unknown critical extension',
      { '1.2.3.4': 'critical,DER:0500' },
      'must not have the critical extension 1.2.3.4',
    ],
  ])('is refused with %s', async (_, changes, fault) => {
    const { pem } = customerIaca(changes);
    expect(await faultsOf(() => parseIaca(pem, after(1)))).toEqual([fault]);
  });

  it('may have unknown extensions that are not critical', async () => {
    const { pem } = customerIaca({ '1.2.3.4': 'DER:0500' });
    expect(await faultsOf(() => parseIaca(pem, after(1)))).toEqual([]);
  });

  it.each<[string, Parameters<typeof customerIaca>[1], string]>([
    ['no country', { subject: '/CN=Customer IACA' }, 'must have a subject with countryName and commonName'],
    ['no common name', { subject: '/C=AU' }, 'must have a subject with countryName and commonName'],
    [
      'a country in lower case',
      { subject: '/C=au/CN=x' },
      'must name its subject correctly: country must be two upper-case letters (ISO 3166-1)',
    ],
    [
      'a state of another form',
      { subject: '/C=AU/ST=NSW/CN=x' },
      'must name its subject correctly: stateOrProvinceName must be an upper-case code of ISO 3166-2 such as AU-NSW',
    ],
    ['another curve', { curve: 'secp256k1' }, 'must have an EC key on P-256, P-384 or P-521'],
    ['more than 20 years', { days: 366 * 20 }, 'notAfter must be at most 20 years after notBefore'],
    ['SHA-1', { begin: ['-sha1'] }, 'must be signed with ECDSA and SHA-256, SHA-384 or SHA-512'],
    [
      'a serial number of 21 octets',
      { begin: ['-set_serial', `0x${'7f'.repeat(21)}`] },
      'must have a serial number of at most 20 octets',
    ],
  ])('is refused with %s', async (_, options, fault) => {
    const { pem } = customerIaca({}, options);
    expect(await faultsOf(() => parseIaca(pem, after(1)))).toEqual([fault]);
  });

  it('is refused before its time and after it', async () => {
    const { pem } = customerIaca({}, { days: 10 });
    const { notBefore, notAfter } = parseIaca(pem, after(1));
    expect(await faultsOf(() => parseIaca(pem, new Date(notBefore.getTime() - 1)))).toEqual([
      `must be valid already: it begins at ${notBefore.toISOString()}`,
    ]);
    expect(await faultsOf(() => parseIaca(pem, notBefore))).toEqual([]);
    expect(await faultsOf(() => parseIaca(pem, notAfter))).toEqual([
      `must not be expired: it ended at ${notAfter.toISOString()}`,
    ]);
  });

  it('is refused when its own key did not sign it', async () => {
    const { pem } = customerIaca();
    const der = Buffer.from(derOf(pem));
    der[der.length - 1]! ^= 1;
    const broken = `-----BEGIN CERTIFICATE-----\n${der.toString('base64')}\n-----END CERTIFICATE-----\n`;
    expect(await faultsOf(() => parseIaca(broken, after(1)))).toEqual(['must be signed by its own key']);
  });

  it.each([
    ['RSA', () => generateKeyPairSync('rsa', { modulusLength: 2048 })],
    ['Ed25519', () => generateKeyPairSync('ed25519')],
  ])('is refused with a key for %s', async (_, make) => {
    writeFileSync(path('other.key'), make().privateKey.export({ type: 'pkcs8', format: 'pem' }));
    const subject = ['-subj', '/C=AU/CN=Customer IACA', '-days', '10', '-config', configOf(IACA_EXTENSIONS)];
    const pem = openssl('req', '-new', '-x509', '-key', path('other.key'), ...subject, '-extensions', 'ext');
    expect(await faultsOf(() => parseIaca(pem, after(1)))).toEqual([
      'must be signed with ECDSA and SHA-256, SHA-384 or SHA-512',
      'must have an EC key on P-256, P-384 or P-521',
    ]);
  });

  it('is refused with every rule that it breaks', async () => {
    const { pem } = customerIaca({ keyUsage: undefined, issuerAltName: undefined }, { subject: '/CN=x' });
    expect(await faultsOf(() => parseIaca(pem, after(1)))).toEqual([
      USAGE,
      'must have a subject with countryName and commonName',
      NAME,
    ]);
    expect(() => parseIaca(pem, after(1))).toThrow(
      `${USAGE}; must have a subject with countryName and commonName; ${NAME}`,
    );
  });
});

suite('a document signer whose IACA the customer keeps', () => {
  const signerKey = newKey();
  const issue = async (
    changes: Changes = {},
    {
      iaca = anyIaca(),
      subject,
      days = 400,
      key = signerKey as CertificateKey,
    }: { iaca?: { pem: string; key: string }; subject?: string; days?: number; key?: CertificateKey } = {},
  ) => {
    writeFileSync(path('signer.csr'), await createDocumentSignerRequest(key, derOf(iaca.pem), 'Signer 1'));
    writeFileSync(path('ca.pem'), iaca.pem);
    const pem = openssl(
      ...['x509', '-req', '-in', path('signer.csr'), '-CA', path('ca.pem'), '-CAkey', iaca.key, '-sha256'],
      ...[
        '-set_serial',
        `0x40${randomBytes(15).toString('hex')}`,
        '-days',
        `${days}`,
        ...(subject ? ['-subj', subject] : []),
      ],
      ...['-extfile', configOf({ ...SIGNER_EXTENSIONS, ...changes }), '-extensions', 'ext'],
    );
    return { pem, iaca: derOf(iaca.pem) };
  };
  const faults = async (issued: { pem: string; iaca: Uint8Array }, time = after(1)) =>
    faultsOf(() => parseDocumentSigner(issued.pem, issued.iaca, signerKey.publicKey, time));

  it.each(['P-256', 'secp384r1'])('that openssl issued for its request with a key on %s is accepted', async (curve) => {
    const { pem, iaca } = await issue({}, { iaca: customerIaca({}, { curve }) });
    expect(parseDocumentSigner(pem, iaca, signerKey.publicKey, after(1))).toMatchObject({
      subject: { commonName: 'Signer 1', country: 'AU', stateOrProvinceName: 'AU-NSW' },
    });
  });

  const USAGE = 'must have the critical key usage digitalSignature, and no other';
  const PURPOSE = 'must have the critical extended key usage 1.0.18013.5.1.2';
  const AUTHORITY_KEY = 'must have the key identifier of the IACA as its authority key identifier';
  it.each<[string, Changes, string]>([
    ['another usage', { keyUsage: 'critical,digitalSignature,nonRepudiation' }, USAGE],
    ['a usage that is not critical', { keyUsage: 'digitalSignature' }, USAGE],
    ['no usage', { keyUsage: undefined }, USAGE],
    ['another purpose', { extendedKeyUsage: 'critical,clientAuth' }, PURPOSE],
    ['a purpose that is not critical', { extendedKeyUsage: '1.0.18013.5.1.2' }, PURPOSE],
    ['no purpose', { extendedKeyUsage: undefined }, PURPOSE],
    ['no authority key identifier', { authorityKeyIdentifier: 'none' }, AUTHORITY_KEY],
    ['no key identifier', { subjectKeyIdentifier: 'none' }, 'must have a subject key identifier'],
    ['a CA', { basicConstraints: 'critical,CA:TRUE,pathlen:0' }, 'must not be the certificate of a CA'],
    [
      'no alternative name',
      { issuerAltName: undefined },
      'must have an issuer alternative name that is an e-mail address or a URI',
    ],
    ['no distribution point', { crlDistributionPoints: undefined }, 'must have a CRL distribution point that is a URI'],
    [
      'an unknown critical extension',
      { '1.2.3.4': 'critical,DER:0500' },
      'must not have the critical extension 1.2.3.4',
    ],
  ])('is refused with %s', async (_, changes, fault) => {
    expect(await faults(await issue(changes))).toEqual([fault]);
  });

  it('of status lists is accepted without the purpose of document signers, and refused with it', async () => {
    const parse = ({ pem, iaca }: { pem: string; iaca: Uint8Array }) =>
      faultsOf(() => parseDocumentSigner(pem, iaca, signerKey.publicKey, after(1), 'statusList'));
    expect(await parse(await issue({ extendedKeyUsage: undefined }))).toEqual([]);
    expect(await parse(await issue({ extendedKeyUsage: '1.2.3.4' }))).toEqual([]);
    expect(await parse(await issue())).toEqual([
      'must not have the extended key usage 1.0.18013.5.1.2 of document signers',
    ]);
  });

  it('is refused for another country, another state, or without the state', async () => {
    const [country, state] = ['must have the countryName of the IACA', 'must have the stateOrProvinceName of the IACA'];
    expect(await faults(await issue({}, { subject: '/C=NZ/ST=AU-NSW/CN=x' }))).toEqual([country]);
    expect(await faults(await issue({}, { subject: '/C=AU/ST=AU-VIC/CN=x' }))).toEqual([state]);
    expect(await faults(await issue({}, { subject: '/C=AU/CN=x' }))).toEqual([state]);
  });

  it('is refused for the key of another request', async () => {
    expect(await faults(await issue({}, { key: newKey() }))).toEqual(['must contain the public key of csrPem']);
  });

  it('is refused when another authority issued it, also one of the same name', async () => {
    const other = derOf(customerIaca().pem);
    const { pem } = await issue();
    expect(await faults({ pem, iaca: other })).toEqual(['must be issued by the IACA of the signer', AUTHORITY_KEY]);
  });

  it('is refused after its end, and when it outlives its IACA', async () => {
    const issued = await issue({}, { days: 10 });
    const { notAfter } = parseDocumentSigner(issued.pem, issued.iaca, signerKey.publicKey, after(1));
    expect(await faults(issued, notAfter)).toEqual([`must not be expired: it ended at ${notAfter.toISOString()}`]);
    const long = await issue({}, { iaca: customerIaca({}, { days: 100 }), days: 101 });
    expect(await faults(long)).toEqual(['must not be valid before or after the IACA']);
  });

  it('is refused when it is no certificate', async () => {
    const { iaca } = await issue();
    expect(await faults({ pem: readFileSync(path('signer.csr'), 'utf8'), iaca })).toEqual([
      'must be one certificate in PEM, beginning with -----BEGIN CERTIFICATE-----',
    ]);
  });
});

suite("a customer's CRL", () => {
  const SIGNATURE_RULE = 'must be signed by the IACA with ECDSA and SHA-256, SHA-384 or SHA-512';
  const key = newKey();
  const iacaOf = async (signer = key) =>
    (
      await createIaca({
        ...{
          key: signer,
          subject: { commonName: 'Customer IACA', country: 'AU' },
          notBefore: now,
          notAfter: after(3650),
        },
        ...{ issuerUrl: 'https://a.example', crlUrl: 'https://a.example/crl', random: (length) => randomBytes(length) },
      })
    ).der;
  const list = async (changes: Partial<Parameters<typeof createRevocationList>[0]> = {}) =>
    createRevocationList({
      ...{ iaca: await iacaOf(), iacaKey: key, number: 5n, thisUpdate: after(0), nextUpdate: after(7) },
      revoked: [{ serialNumber: '40aa', revokedAt: now, reason: 'keyCompromise' }],
      ...changes,
    });
  const parse = async (crl: Uint8Array | string, previous?: bigint) =>
    parseRevocationList(crl, await iacaOf(), previous, after(1));

  it('that openssl made is accepted, in PEM and in DER', async () => {
    const iaca = customerIaca({}, { curve: 'secp384r1' });
    const serial = `40${randomBytes(15).toString('hex')}`.toUpperCase();
    const pem = revocationList(iaca, `R\t400101000000Z\t260131120000Z,keyCompromise\t${serial}\tunknown\t/CN=x\n`);
    for (const form of [pem, new Uint8Array(derOf(pem))])
      expect(await parseRevocationList(form, derOf(iaca.pem), 255n, after(1))).toMatchObject({
        number: 256n,
        der: new Uint8Array(derOf(pem)),
        revokedSerialNumbers: [serial.toLowerCase()],
      });
  });

  it('that the platform made is accepted, with its times, number and entries', async () => {
    const der = await list({ revoked: [] });
    expect(await parse(der)).toEqual({
      der,
      number: 5n,
      thisUpdate: now,
      nextUpdate: after(7),
      revokedSerialNumbers: [],
    });
    expect(await parse(await list(), 4n)).toMatchObject({ revokedSerialNumbers: ['40aa'] });
  });

  it.each<[string, () => Promise<Uint8Array | string>, string]>([
    ['bytes of another kind', () => Promise.resolve(Buffer.from('list')), 'must be an X.509 CRL in DER or PEM'],
    ['another text', () => Promise.resolve('list'), 'must be an X.509 CRL in DER or PEM'],
    ['empty', () => Promise.resolve(''), 'must be an X.509 CRL in DER or PEM'],
    ['a certificate', () => iacaOf(), 'must be an X.509 CRL in DER or PEM'],
    ['not signed by the key of the IACA', () => list({ iacaKey: newKey() }), SIGNATURE_RULE],
    ['of another issuer', async () => list({ iaca: (await otherIaca()).der }), SIGNATURE_RULE],
    ['not valid yet', () => list({ thisUpdate: after(2) }), 'must have a time thisUpdate that is not in the future'],
    ['due for an update', () => list({ nextUpdate: after(1) }), 'must have a time nextUpdate in the future'],
  ])('is refused when it is %s', async (_, make, fault) => {
    const crl = await make();
    expect(await faultsOf(() => parse(crl))).toEqual([fault]);
  });

  it.each(['secp384r1', 'secp521r1'])('is refused when it is signed by a key of its name on %s', async (curve) => {
    const crl = revocationList(customerIaca({}, { curve }), '');
    const iaca = derOf(customerIaca().pem);
    expect(await faultsOf(() => parseRevocationList(crl, iaca, undefined, after(1)))).toEqual([SIGNATURE_RULE]);
  });

  it('is refused within milliseconds when its text only looks like PEM', async () => {
    const begun = performance.now();
    for (const text of ['-----BEGIN ', '-----BEGIN X509 CRL-----', '-----END X509 CRL-----'])
      expect(await faultsOf(() => parse(text.repeat(10_000)))).toEqual(['must be an X.509 CRL in DER or PEM']);
    expect(performance.now() - begun).toBeLessThan(500);
  });

  const otherIaca = () =>
    createIaca({
      ...{ key, subject: { commonName: 'Other IACA', country: 'AU' }, notBefore: now, notAfter: after(10) },
      ...{
        issuerUrl: 'https://a.example',
        crlUrl: 'https://a.example/crl',
        random: (length: number) => randomBytes(length),
      },
    });

  it.each([
    [5n, 5n],
    [5n, 6n],
    [2n ** 64n, 2n ** 64n],
  ])('is refused with the number %i after %i', async (number, previous) => {
    const crl = await list({ number });
    expect(await faultsOf(() => parse(crl, previous))).toEqual([
      `must have a CRL number larger than ${previous}, that of the list it replaces`,
    ]);
  });

  const RANGE = 'must have a CRL number from 0 to 2^159 - 1';
  const MAX = 2n ** 159n - 1n;
  it.each([
    ['-1', '0201ff', [RANGE]],
    ['-2^159, of which the bits are those of 2^159', `0214${'80'.padEnd(40, '0')}`, [RANGE]],
    ['2^159', `021500${'80'.padEnd(40, '0')}`, [RANGE]],
    ['2^1007', `027f00${'80'.padEnd(252, '0')}`, [RANGE]],
    ['a length in several octets', `028180${'01'.padEnd(256, '0')}`, ['must have a CRL number']],
    ['127 octets, of which one is missing', `027f${'01'.padEnd(252, '0')}`, ['must have a CRL number']],
    ['2^159 - 1', `02147f${'f'.repeat(38)}`, undefined],
    ['0', '020100', undefined],
  ])('with the CRL number %s is checked [T168]', async (_, hex, faults) => {
    const crl = await make([new Extension('2.5.29.20', false, Buffer.from(hex, 'hex'))], after(7));
    if (faults) expect(await faultsOf(() => parse(crl))).toEqual(faults);
    else expect((await parse(crl)).number).toBe(hex === '020100' ? 0n : MAX);
  });

  it('cannot follow one with the largest number, and the refusal says what can be done [T168]', async () => {
    expect((await parse(await list({ number: MAX }), MAX - 1n)).number).toBe(MAX);
    for (const number of [1n, MAX])
      expect(await faultsOf(async () => parse(await list({ number }), MAX))).toEqual([
        'must not replace the list with the largest CRL number, 2^159 - 1: register another IACA, or delete this one and register it again',
      ]);
  });

  const make = async (extensions: Extension[], nextUpdate?: Date) => {
    const crl = await X509CrlGenerator.create(
      {
        issuer: new Name([{ C: [{ printableString: 'AU' }] }, { CN: [{ printableString: 'Customer IACA' }] }]),
        ...{ thisUpdate: now, nextUpdate, extensions },
        ...{ signingKey: SIGNING_KEY, signingAlgorithm: { name: 'ECDSA', hash: 'SHA-256' } as never },
      },
      signingCrypto(key),
    );
    return new Uint8Array(crl.rawData);
  };

  it('is refused without number, without next update, or as a delta list', async () => {
    const number = new Extension('2.5.29.20', false, Buffer.from('020105', 'hex'));
    const delta = new Extension('2.5.29.27', true, Buffer.from('020104', 'hex'));
    const negative = new Extension('2.5.29.20', false, Buffer.from('0400', 'hex'));
    const [noNumber, noUpdate, deltaList, oddNumber] = await Promise.all([
      make([], after(7)),
      make([number]),
      make([number, delta], after(7)),
      make([negative], after(7)),
    ]);
    expect(await faultsOf(() => parse(noNumber))).toEqual(['must have a CRL number']);
    expect(await faultsOf(() => parse(oddNumber))).toEqual(['must have a CRL number']);
    expect(await faultsOf(() => parse(noUpdate))).toContain('must have a time nextUpdate in the future');
    expect(await faultsOf(() => parse(deltaList))).toEqual([
      'must not have the critical extension 2.5.29.27: only complete lists are supported',
    ]);
  });

  it('is refused when its algorithm is not one of the key', async () => {
    const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 });
    writeFileSync(path('rsa.key'), rsa.privateKey.export({ type: 'pkcs8', format: 'pem' }));
    const subject = ['-subj', '/C=AU/CN=Customer IACA', '-days', '10', '-config', configOf({})];
    const certificate = openssl('req', '-new', '-x509', '-key', path('rsa.key'), ...subject);
    const pem = revocationList({ pem: certificate, key: path('rsa.key') }, '');
    expect(await faultsOf(() => parse(pem))).toEqual([SIGNATURE_RULE]);
  });
});
