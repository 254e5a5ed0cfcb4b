// An mdoc made by libs/cose, against the same bytes made by its CBOR library and node:crypto alone.
import { generateKeyPairSync, hash, randomBytes, sign } from 'node:crypto';
import { prepareMdoc } from '@attestry/cose';
import { pooledBytes } from '@attestry/keys';
import { encode, rfc8949EncodeOptions, Tagged } from 'cborg';
import { median } from './statistics.mjs';

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

const elements = Object.entries(MDOC_ELEMENTS);
const namespaces = {
  [MDOC_NAMESPACE]: Object.fromEntries(elements.map(([name, [type, value]]) => [name, { type, value }])),
};
const device = generateKeyPairSync('ec', { namedCurve: 'P-256' }).publicKey.export({ format: 'jwk' });
const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
const documentSigner = randomBytes(600);
const signRaw = (data) => sign('sha256', data, { key: privateKey, dsaEncoding: 'ieee-p1363' });
const time = new Date();

const byModule = () => {
  const validity = { signed: time, validFrom: time, validUntil: time };
  const parts = { docType: MDOC_TYPE, namespaces, deviceKey: device, validity, documentSigner, random: pooledBytes };
  const prepared = prepareMdoc(parts);
  return prepared.assemble(signRaw(prepared.toBeSigned));
};

const cbor = (value) => encode(value, rfc8949EncodeOptions);
const item24 = (value) => new Tagged(24, cbor(value));
const tdate = () => new Tagged(0, `${time.toISOString().slice(0, 19)}Z`);
const VALUES = {
  date: (value) => new Tagged(1004, value),
  binary: (value) => Buffer.from(value, 'base64'),
};
const byLibraries = () => {
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
    validityInfo: { signed: tdate(), validFrom: tdate(), validUntil: tdate() },
  };
  const header = cbor(new Map([[1, -7]]));
  const payload = cbor(item24(security));
  const signature = signRaw(cbor(['Signature1', header, new Uint8Array(), payload]));
  const issuerAuth = [header, new Map([[33, documentSigner]]), payload, signature];
  return Buffer.from(cbor({ nameSpaces: { [MDOC_NAMESPACE]: items }, issuerAuth })).toString('base64url');
};

const ROUNDS = 15;
const CALLS = 200;

/** Milliseconds of CPU for one mdoc, interleaved. */
export const mdocWork = () => {
  if (byModule().length !== byLibraries().length) throw new Error('the two mdocs differ');
  const used = { module: [], libraries: [] };
  for (let round = 0; round < ROUNDS; round++)
    for (const [name, make] of [
      ['module', byModule],
      ['libraries', byLibraries],
    ]) {
      const before = process.cpuUsage();
      for (let call = 0; call < CALLS; call++) make();
      const { user, system } = process.cpuUsage(before);
      used[name].push((user + system) / 1000 / CALLS);
    }
  return { mdocMs: median(used.module), mdocByLibrariesMs: median(used.libraries) };
};
