// `npm run bench -- --wallets [--pairs N] [--json] [--quick]`: the pre-authorized flow with DPoP, client attestation (with a proof of possession of
// its own) and encryption of request and response, against the plain one, embedded, 64 clients, in slices in turn. The program ends with 1 when
// the protected flow takes more than 2.2 times the plain one's CPU time.
import { createHash, randomUUID, sign } from 'node:crypto';
import { parseArgs } from 'node:util';
import { CompactEncrypt, compactDecrypt, exportJWK, generateKeyPair, importJWK } from 'jose';
import { WalletProvider } from '@attestry/testing';
import { compareSlices, orderOf } from './compare-slices.mjs';
import { FORM, GRANT, makeHolderKeys, makeOffer, makeProof, prepare, requestNonce } from './flow.mjs';
import { connect } from './http.mjs';
import { startEmbedded } from './platforms.mjs';
import { describe, slice, warmUp } from './slices.mjs';

const { values: options } = parseArgs({
  options: {
    pairs: { type: 'string', default: '12' },
    json: { type: 'boolean', default: false },
    quick: { type: 'boolean', default: false },
  },
});
const PAIRS = options.quick ? 2 : Number(options.pairs);
if (!Number.isInteger(PAIRS) || PAIRS < 1) throw new Error('--pairs must be a whole number of at least 1');
const WARM_UP = options.quick ? 300 : 2000;
const CLIENTS = 64;
const MOST = 2.2;
const FORMAT = 'jwt_vc_json';
const CLIENT_ID = 'bench-wallet';
/** More than the platform caches of their keys. */
const INSTANCES = options.quick ? 200 : 6000;

const say = (line) => (options.json ? console.error(line) : console.log(line));
const base64url = (value) => Buffer.from(JSON.stringify(value)).toString('base64url');
const signJwt = ({ privateKey }, header, claims) => {
  const input = `${header}.${base64url({ iat: Math.floor(Date.now() / 1000), jti: randomUUID(), ...claims })}`;
  const signature = sign('sha256', Buffer.from(input), { key: privateKey, dsaEncoding: 'ieee-p1363' });
  return `${input}.${signature.toString('base64url')}`;
};
const athOf = (token) => createHash('sha256').update(token).digest('base64url');
const POP_HEADER = base64url({ typ: 'oauth-client-attestation-pop+jwt', alg: 'ES256' });

const platform = await startEmbedded();
try {
  const setUp = connect(platform.port, 1);
  const tenant = await prepare(setUp, platform, [FORMAT]);
  const { host, issuer, asClient, configurations } = tenant;
  const provider = await WalletProvider.create();
  const wallet = { name: 'Bench', clientId: CLIENT_ID, rootCertificates: [provider.rootCertificate] };
  await setUp.send('POST', host, '/v1/openid/wallet-attestation-configurations', asClient, JSON.stringify(wallet), 201);
  const metadata = await setUp.send('GET', host, '/.well-known/openid-credential-issuer', {});
  await setUp.close();
  const [issuerJwk] = metadata.credential_request_encryption.jwks.keys;
  const issuerKey = await importJWK(issuerJwk, 'ECDH-ES');
  const ownKeys = await generateKeyPair('ECDH-ES', { crv: 'P-256', extractable: true });
  const responseEncryption = {
    jwk: { ...(await exportJWK(ownKeys.publicKey)), alg: 'ECDH-ES', use: 'enc', kid: 'own' },
    enc: 'A256GCM',
  };
  const instances = [];
  for (const key of makeHolderKeys(INSTANCES)) {
    const { jwk } = JSON.parse(Buffer.from(key.header, 'base64url'));
    instances.push({
      privateKey: key.privateKey,
      dpopHeader: base64url({ typ: 'dpop+jwt', alg: 'ES256', jwk }),
      attestation: await provider.attest(CLIENT_ID, jwk, { exp: Math.floor(Date.now() / 1000) + 3600 }),
    });
  }
  let next = 0;
  let isChecked = false;
  const protectedFlow = async (http, _tenant, key) => {
    const instance = instances[next++ % instances.length];
    const proofOf = (path, claims = {}) =>
      signJwt(instance, instance.dpopHeader, { htm: 'POST', htu: `${issuer}${path}`, ...claims });
    const code = await makeOffer(http, tenant, configurations[FORMAT]);
    const form = { grant_type: GRANT, 'pre-authorized_code': code, client_id: CLIENT_ID };
    const token = await http.send(
      'POST',
      host,
      '/v1/oauth/token',
      {
        ...FORM,
        'oauth-client-attestation': instance.attestation,
        'oauth-client-attestation-pop': signJwt(instance, POP_HEADER, { aud: issuer }),
        dpop: proofOf('/v1/oauth/token'),
      },
      new URLSearchParams(form).toString(),
    );
    const nonce = await requestNonce(http, tenant);
    const request = {
      credential_configuration_id: configurations[FORMAT],
      proofs: { jwt: [makeProof(key, issuer, nonce)] },
      credential_response_encryption: responseEncryption,
    };
    const jwe = await new CompactEncrypt(Buffer.from(JSON.stringify(request)))
      .setProtectedHeader({ alg: 'ECDH-ES', enc: 'A256GCM', kid: issuerJwk.kid })
      .encrypt(issuerKey);
    const answer = await http.send(
      'POST',
      host,
      '/v1/openid/credential',
      {
        'content-type': 'application/jwt',
        authorization: `${token.token_type} ${token.access_token}`,
        dpop: proofOf('/v1/openid/credential', { ath: athOf(token.access_token) }),
      },
      jwe,
    );
    if (isChecked) return;
    isChecked = true;
    const { plaintext } = await compactDecrypt(answer, ownKeys.privateKey);
    if (JSON.parse(Buffer.from(plaintext)).credentials.length !== 1) throw new Error('no credential');
  };

  const side = { platform, tenant };
  const sides = { base: FORMAT, current: protectedFlow };
  for (const what of Object.values(sides)) await warmUp(side, what, CLIENTS, WARM_UP);
  const pairs = [];
  for (let at = 0; at < PAIRS; at++) {
    const pair = {};
    for (const name of orderOf(at)) pair[name] = await slice(side, sides[name], CLIENTS);
    pairs.push(pair);
  }
  const result = compareSlices(pairs);
  say(`${FORMAT}, ${CLIENTS} clients, ${PAIRS} pairs: protected over plain flow`);
  say(`  CPU per credential: ${describe(result.cpuRatio)}; target at most ${MOST}`);
  say(`  from the three cheapest slices of each: ${result.cpuRatioOfCheapest}`);
  for (const [name, what] of [
    ['base', 'plain'],
    ['current', 'protected'],
  ])
    say(
      `  ${what}: ${describe(result.cpuMsPerCredential[name])} ms, ${describe(result.credentialsPerSecond[name])} per second`,
    );
  if (options.json) console.log(JSON.stringify({ pairs: PAIRS, most: MOST, ...result }));
  if (result.cpuRatio.median > MOST) process.exitCode = 1;
} finally {
  await platform.stop();
}
