/** @engines embedded postgres */
import { Canonicalization } from '@attestry/linked-data';
import { waitUntil } from '@attestry/testing';
import { CredentialFlow, makeWalletKey, refusal } from '@attestry/testing/services';
import { LdpVc } from './ldp-vc.js';
import { issuanceService } from '../../index.js';

const service = new CredentialFlow(issuanceService);
const { makeOffer: offer, nonceFor, prove, collect, configureFormat: configure, begin: start } = service;
const eventually = (condition: () => boolean | Promise<boolean>) => waitUntil(condition, { intervalMs: 1 });
let jwtVc: string;
let ldpVc: string;

beforeAll(async () => {
  await service.open();
  jwtVc = await configure('jwt_vc_json', 'Course');
  ldpVc = await configure('ldp_vc', 'Course');
});
afterAll(() => service.remove());

describe('large linked data', () => {
  const limit = 20_000;
  const list = (length: number) => ({ given_name: Array.from({ length }, (_, i) => `row ${i}`) });
  const nested = (levels: number) => {
    let value: unknown = 'x';
    for (let i = 0; i < levels; i++) value = { in: value };
    return { given_name: value };
  };
  /** Blank nodes in a circle, which canonicalization distinguishes only in quadratic time. */
  const ring = (length: number) => ({
    given_name: Array.from({ length }, (_, i) => ({ id: `_:n${i}`, next: { id: `_:n${(i + 1) % length}` } })),
  });
  const collectWith = async (token: string, count: number) => {
    const nonce = await nonceFor();
    const jwt = await Promise.all(Array.from({ length: count }, () => prove(makeWalletKey(), nonce)));
    return () => collect(token, { credential_configuration_id: ldpVc, proofs: { jwt } });
  };
  const detailOf = async (promise: Promise<unknown>) => {
    const { kind, details } = await refusal(promise);
    return [kind, details?.map(({ param, msg }) => `${param} ${msg}`)];
  };

  it('is refused in an offer whose credential could never be issued', async () => {
    const refused = (id: string, fault: string) => [
      'invalid',
      [`claims must fit credential configuration ${id}: ${fault}`],
    ];
    const tooMany = (id: string, claim = 'givenName') =>
      refused(id, `${claim} must not make the claims of the credential have more than 20000 JSON values`);
    const tooDeep = (id: string) =>
      refused(id, 'givenName must not make the claims of the credential nest deeper than 32 levels');
    expect(await detailOf(offer({ credentials: [jwtVc, ldpVc], claims: list(limit - 1) }))).toEqual(tooMany(ldpVc));
    expect(await detailOf(offer({ credentials: [ldpVc], claims: nested(31) }))).toEqual(tooDeep(ldpVc));
    // One claim that becomes many.
    const claimMappings = Object.fromEntries(
      Array.from({ length: 200 }, (_, i) => [`claim${i}`, { mapFrom: 'claims.given_name' }]),
    );
    const multiplied = await configure('ldp_vc', 'Multiplied', { claimMappings });
    expect(await detailOf(offer({ credentials: [multiplied], claims: list(100) }))).toEqual(
      tooMany(multiplied, 'claim198'),
    );
    await offer({ credentials: [multiplied], claims: list(90) });
    // Not linked data.
    await offer({ credentials: [jwtVc], claims: list(limit - 1) });
    await offer({ credentials: [ldpVc], claims: nested(3) });
  });

  it('is refused in the default values of a configuration', async () => {
    const of = (...values: unknown[]) => ({
      claimMappings: Object.fromEntries(values.map((defaultValue, i) => [`claim${i}`, { defaultValue }])),
    });
    const many = Array.from({ length: limit - 2 }, () => 1);
    expect(await detailOf(configure('ldp_vc', 'Large', of(many)))).toEqual([
      'invalid',
      ['claimMappings.claim0 must not have a defaultValue that makes claims have more than 20000 JSON values'],
    ]);
    // The shape of a request limits several values together.
    expect(await detailOf(configure('ldp_vc', 'Large', of(many, 'x')))).toEqual([
      'invalid',
      ['claimMappings must have at most 20000 values in total'],
    ]);
    expect(await detailOf(configure('ldp_vc', 'Large', of('x', nested(30).given_name)))).toEqual([
      'invalid',
      ['claimMappings.claim1 must not have a defaultValue that makes claims nest deeper than 32 levels'],
    ]);
    await configure('jwt_vc_json', 'Large', of(many));
  });

  it('is bounded over all proofs of a request', async () => {
    const { token } = await start(ldpVc, { claims: list(2500) });
    const refused = await refusal((await collectWith(token, 8))());
    expect([refused.code, refused.message]).toEqual([
      'credential_request_denied',
      'givenName must not make the claims of the credentials of one request have more than 20000 JSON values',
    ]);
    const { credentials } = await (await collectWith(token, 7))();
    expect(credentials).toHaveLength(7);
  });

  it('is refused in an offer when it takes too long', async () => {
    const pool = service.get(Canonicalization);
    const { deadlineMs } = pool as unknown as { deadlineMs: number };
    Object.assign(pool, { deadlineMs: 1000 });
    const msg = 'givenName takes too long to canonicalize: it must take at most 5 seconds';
    expect(await detailOf(offer({ credentials: [ldpVc], claims: ring(4900) }))).toEqual([
      'invalid',
      [`claims must fit credential configuration ${ldpVc}: ${msg}`],
    ]);
    Object.assign(pool, { deadlineMs });
  });

  it('is denied when it takes too long, and refused with 503 when there is no capacity, without spending the nonce', async () => {
    const pool = service.get(Canonicalization);
    // An offer of a release that did not check its claims.
    const format = service.get(LdpVc);
    Object.assign(format, { check: async () => undefined });
    const { token: poisoned } = await start(ldpVc, { claims: ring(4900) });
    delete (format as { check?: unknown }).check;
    const { token } = await start(ldpVc, { claims: list(1000) });
    const [first, second] = [await collectWith(poisoned, 1), await collectWith(token, 1)];
    // The deadline is that of the one job alone: others are as slow as the machine.
    const { deadlineMs } = pool as unknown as { deadlineMs: number };
    Object.assign(pool, { deadlineMs: 1500 });
    const endless = refusal(first());
    await eventually(() => pool.runningJobs === 1);
    Object.assign(pool, { deadlineMs });
    const document = { '@context': ['https://www.w3.org/ns/credentials/v2'], name: list(1000).given_name };
    const waiting = Array.from({ length: 64 }, (_, i) => pool.hashes(`tenant ${i}`, [document]));
    const ends = Promise.allSettled(waiting);
    const full = await refusal(second());
    expect([full.kind, full.headers]).toEqual(['unavailable', { 'retry-after': '5' }]);
    expect(await endless).toMatchObject({
      code: 'credential_request_denied',
      message: 'givenName takes too long to canonicalize: it must take at most 5 seconds',
    });
    await ends;
    expect((await second()).credentials).toHaveLength(1);
  });
});
