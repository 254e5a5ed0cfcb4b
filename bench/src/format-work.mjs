// A format's own work on a credential with ten claims (mapping, encoding, signature), against the same bytes made by its CBOR or SD-JWT library and
// node:crypto alone.
import { generateKeyPairSync, hash, randomBytes, randomUUID, sign } from 'node:crypto';
import { FORMAT_CLASSES } from '@attestry/issuance';
import { pooledBytes } from '@attestry/keys';
import { base32nopad } from '@scure/base';
import { SDJwtVcInstance } from '@sd-jwt/sd-jwt-vc';
import { encode, rfc8949EncodeOptions, Tagged } from 'cborg';
import { cheapest } from './statistics.mjs';

export const MDOC_TYPE = 'org.example.bench';
export const MDOC_NAMESPACE = 'org.example.bench.1';
/** Ten elements, as of a driving licence; the portrait has 2,000 bytes. */
export const MDOC_ELEMENTS = {
  family_name: ['string', 'Lovelace'],
  given_name: ['string', 'Ada'],
  birth_date: ['date', '1990-12-10'],
  issue_date: ['date', '2026-01-31'],
  expiry_date: ['date', '2036-01-31'],
  issuing_country: ['string', 'NZ'],
  issuing_authority: ['string', 'Example Roads'],
  document_number: ['string', 'AB123456'],
  portrait: ['binary', Buffer.alloc(2000, 7).toString('base64')],
  driving_privileges: ['array', [{ vehicle_category_code: 'B' }]],
};
const CLAIMS = {
  ...{ family_name: 'Lovelace', given_name: 'Ada', birth_date: '1990-12-10', course: 'Difference engines', level: 7 },
  ...{ grade: 'first', passed: true, issued_by: 'Example University', country: 'NZ', document_number: 'AB123456' },
};

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const ISSUER = 'https://bench.example';
const DID = 'did:web:bench.example';
const FRAGMENT = 'k123456789';
const HOLDER_DID = 'did:key:zDnaerDaTF5BXEavCrfRZEk316dpbLsfPDZ3WJ5hRTPFU2169';
const newKey = () => generateKeyPairSync('ec', { namedCurve: 'P-256' });
const device = newKey().publicKey.export({ format: 'jwk' });
const issuer = newKey();
const signRaw = (data) => sign('sha256', data, { key: issuer.privateKey, dsaEncoding: 'ieee-p1363' });
const certificate = randomBytes(600);
const time = new Date();
const signer = {
  ...{ keyId: 'bench', algorithm: 'P-256', publicKey: issuer.publicKey, sign: signRaw },
  publicJwk: issuer.publicKey.export({ format: 'jwk' }),
  certificate: {
    x5c: [certificate.toString('base64')],
    fingerprint: 'bench',
    notBefore: new Date(time.getTime() - DAY_MS),
    notAfter: new Date(time.getTime() + 1000 * DAY_MS),
  },
};

const mappedFrom = (names) => Object.fromEntries(names.map((name) => [name, { mapFrom: `claims.${name}` }]));
const elements = Object.entries(MDOC_ELEMENTS);
const CONTENTS = {
  mso_mdoc: {
    claimMappings: {
      [MDOC_NAMESPACE]: Object.fromEntries(
        elements.map(([name, [type]]) => [name, { type, mapFrom: `claims.${name}` }]),
      ),
    },
    branding: { name: 'Bench' },
  },
  'dc+sd-jwt': {
    ...{
      name: 'Bench',
      issuer: { name: 'Bench' },
      vct: `${ISSUER}/v1/openid/types/Bench/1`,
      vctIntegrity: 'sha256-bench',
    },
    claimMappings: mappedFrom(Object.keys(CLAIMS)),
  },
  cwt: { claimMappings: mappedFrom(Object.keys(CLAIMS)) },
  cwt_vc: { claimMappings: mappedFrom(Object.keys(CLAIMS)), contexts: [] },
};
const USERS = { mso_mdoc: Object.fromEntries(elements.map(([name, [, value]]) => [name, value])) };

/** Times as the formats round them: down to the hour, and for lifetimes of two days or more down to the day. */
const signedAt = new Date(Math.floor(time.getTime() / HOUR_MS) * HOUR_MS);
const endsAt = new Date(Math.floor(time.getTime() / DAY_MS + 30) * DAY_MS);
const secondsOf = (date) => date.getTime() / 1000;

/** One credential by the format's module, as the credential endpoint calls it. */
const byModule = (name) => {
  // Credentials that are made here need no look-ups.
  const format = new FORMAT_CLASSES[name]();
  const configuration = {
    ...{ status: 'active', id: 'bench', format: name, createdAt: time.toISOString(), version: 1 },
    type: name === 'mso_mdoc' ? MDOC_TYPE : 'Bench',
    content: { ...CONTENTS[name], expiresIn: { days: 30 } },
    issuerKey: { did: DID, verificationMethod: `${DID}#${FRAGMENT}`, kmsKeyId: 'bench', algorithm: 'P-256' },
  };
  const user = { claims: USERS[name] ?? CLAIMS };
  const holder = { did: HOLDER_DID, publicJwk: device };
  return async () => {
    const claims = format.mapClaims(configuration, user);
    const credentialId = randomUUID();
    const facts = { configuration, claims, holder, issuer: ISSUER, signer, time, credentialId, random: pooledBytes };
    const [credential] = await format.sign('bench', [format.prepare(facts)], signer);
    return credential;
  };
};

const cbor = (value) => encode(value, rfc8949EncodeOptions);
const item24 = (value) => new Tagged(24, cbor(value));
const tdate = (date) => new Tagged(0, `${date.toISOString().slice(0, 19)}Z`);
const VALUES = {
  date: (value) => new Tagged(1004, value),
  binary: (value) => Buffer.from(value, 'base64'),
};
const mdocByLibraries = () => {
  const digests = new Map();
  const items = elements.map(([name, [type, value]], digestID) => {
    const elementValue = VALUES[type]?.(value) ?? value;
    const item = item24({ digestID, random: pooledBytes(32), elementIdentifier: name, elementValue });
    digests.set(digestID, hash('sha256', cbor(item), 'buffer'));
    return item;
  });
  const [x, y] = [device.x, device.y].map((coordinate) => Buffer.from(coordinate, 'base64url'));
  const deviceKey = new Map(
    Object.entries({ 1: 2, '-1': 1, '-2': x, '-3': y }).map(([name, it]) => [Number(name), it]),
  );
  const security = {
    ...{ version: '1.0', digestAlgorithm: 'SHA-256', docType: MDOC_TYPE, deviceKeyInfo: { deviceKey } },
    valueDigests: { [MDOC_NAMESPACE]: digests },
    validityInfo: { signed: tdate(signedAt), validFrom: tdate(signedAt), validUntil: tdate(endsAt) },
  };
  const header = cbor(new Map([[1, -7]]));
  const payload = cbor(item24(security));
  const signature = signRaw(cbor(['Signature1', header, new Uint8Array(), payload]));
  const issuerAuth = [header, new Map([[33, certificate]]), payload, signature];
  return Buffer.from(cbor({ nameSpaces: { [MDOC_NAMESPACE]: items }, issuerAuth })).toString('base64url');
};

const HEADER = Buffer.concat([Buffer.of(0xa2, 0x04), cbor(Buffer.from(FRAGMENT)), Buffer.of(0x01, 0x26)]);
const cwtByLibraries = (prefix, own) => () => {
  const claims = new Map([
    ...[
      [1, DID],
      [2, HOLDER_DID],
      [4, secondsOf(endsAt)],
      [5, secondsOf(signedAt)],
      [6, secondsOf(signedAt)],
    ],
    [7, Buffer.from(randomUUID().replaceAll('-', ''), 'hex')],
    ...own,
  ]);
  const payload = cbor(claims);
  const signature = signRaw(cbor(['Signature1', HEADER, new Uint8Array(), payload]));
  return prefix + base32nopad.encode(cbor(new Tagged(18, [HEADER, new Map(), payload, signature])));
};
const SEMANTIC = {
  ...{ version: '1.0.0', '@context': ['https://www.w3.org/2018/credentials/v1'] },
  ...{ type: ['VerifiableCredential', 'Bench'], credentialSubject: { id: HOLDER_DID, ...CLAIMS } },
};

const sdJwt = new SDJwtVcInstance({
  signer: (data) => signRaw(Buffer.from(data, 'latin1')).toString('base64url'),
  signAlg: 'ES256',
  hasher: (data) => hash('sha256', data, 'buffer'),
  hashAlg: 'sha-256',
  saltGenerator: () => pooledBytes(16).toString('base64url'),
});
const sdJwtByLibraries = () => {
  const { vct, vctIntegrity } = CONTENTS['dc+sd-jwt'];
  const { kty, crv, x, y } = device;
  const payload = {
    ...{ iss: ISSUER, iat: secondsOf(signedAt), nbf: secondsOf(signedAt), exp: secondsOf(endsAt), vct },
    ...{ 'vct#integrity': vctIntegrity, cnf: { jwk: { kty, crv, x, y } }, ...CLAIMS },
  };
  const header = { x5c: signer.certificate.x5c };
  return sdJwt.issue(payload, { _sd: Object.keys(CLAIMS) }, { header });
};

const WORK = {
  mso_mdoc: [byModule('mso_mdoc'), mdocByLibraries],
  'dc+sd-jwt': [byModule('dc+sd-jwt'), sdJwtByLibraries],
  cwt: [byModule('cwt'), cwtByLibraries('CSC:/1/', [[-65539, 'Bench'], ...Object.entries(CLAIMS)])],
  cwt_vc: [byModule('cwt_vc'), cwtByLibraries('CSS:/1/', [['vc', SEMANTIC]])],
};

const ROUNDS = 30;
const CALLS = 200;

/** Milliseconds of CPU for one credential of each format, interleaved: the cheapest rounds, which other processes disturbed least. */
export const formatWork = async () => {
  const result = {};
  for (const [format, ways] of Object.entries(WORK)) {
    const [own, others] = await Promise.all(ways.map((make) => make()));
    if (own.length !== others.length) throw new Error(`the two credentials of ${format} differ: ${own}\n${others}`);
    const used = ways.map(() => []);
    for (let round = 0; round < ROUNDS; round++)
      for (const [way, make] of ways.entries()) {
        const before = process.cpuUsage();
        for (let call = 0; call < CALLS; call++) await make();
        const { user, system } = process.cpuUsage(before);
        used[way].push((user + system) / 1000 / CALLS);
      }
    const [moduleMs, librariesMs] = used.map(cheapest);
    result[format] = { moduleMs, librariesMs };
  }
  return result;
};
