/** @engines embedded postgres */
import { isDeepStrictEqual } from 'node:util';
import {
  deletePreAuthorizedOffer,
  deleteUser,
  listUserCredentials,
  retrieveOfferContent,
  retrievePreAuthorizedOffer,
  type PageOf,
  type UserCredential,
} from '@attestry/contracts';
import { waitUntil } from '@attestry/testing';
import { CredentialFlow, IssuanceUnderTest, makeWalletKey, refusal, refusalCode } from '@attestry/testing/services';
import { issuanceService } from '../../index.js';

const { TENANT, OTHER, PRE_AUTHORIZED: GRANT } = IssuanceUnderTest;
const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';

const service = new CredentialFlow(issuanceService);
const { admin, makeOffer: offer, documentOf: read, codeOf, exchange: redeem, nonceFor, prove, collect } = service;
const { configureFormat: configure, begin: start, baseOf: issuerOf } = service;
const eventually = (condition: () => boolean | Promise<boolean>) => waitUntil(condition, { intervalMs: 1 });
let jwtVc: string;
let ldpVc: string;

beforeAll(async () => {
  await service.open();
  jwtVc = await configure('jwt_vc_json', 'Course');
  ldpVc = await configure('ldp_vc', 'Course');
});
beforeEach(() => {
  service.ahead = 0;
});
afterAll(() => service.remove());

describe('an offer', () => {
  it('is the same by value and by reference', async () => {
    const made = await offer({ credentials: [jwtVc, ldpVc] });
    const document = read(made);
    expect(document).toEqual({
      credential_issuer: issuerOf(TENANT),
      credential_configuration_ids: [jwtVc, ldpVc],
      credentials: [jwtVc, ldpVc],
      grants: { [GRANT]: { 'pre-authorized_code': expect.stringMatching(/^[A-Za-z0-9_-]{86}$/) as string } },
    });
    const reference = new URL(new URL(made.uriByReference).searchParams.get('credential_offer_uri')!);
    expect(reference.origin).toBe(issuerOf(TENANT));
    const [, value] = /^\/v1\/openid\/offers\/([^/]+)\/content$/.exec(reference.pathname)!;
    const content = (reference: string, tenantId = TENANT) =>
      service.visit(retrieveOfferContent, { params: { reference } }, tenantId);
    expect(await content(value!)).toEqual(document);
    const wrong = `${value!.slice(0, -2)}${value!.endsWith('AA') ? 'BB' : 'AA'}`;
    // The last character of a secret has spellings that decode alike, and an id another case.
    const alike = ALPHABET[ALPHABET.indexOf(value!.at(-1)!) ^ 1]!;
    const shouted = `${made.id.toUpperCase()}.${value!.split('.')[1]}`;
    for (const bad of [
      wrong,
      `${value!.slice(0, -1)}${alike}`,
      shouted,
      made.id,
      `${made.id}.`,
      `${value}.x`,
      'x',
      `${TENANT}.${value!.split('.')[1]}`,
    ])
      expect(await refusalCode(content(bad))).toBe('NotFound');
    expect(await refusalCode(content(value!, OTHER))).toBe('NotFound');
    service.ahead = 300_000;
    expect(await refusalCode(content(value!))).toBe('NotFound');
    service.ahead = 0;
    await redeem(codeOf(made));
    expect(await refusalCode(content(value!))).toBe('NotFound');
  });

  it('is valid for the requested time', async () => {
    const before = Date.now();
    const { expiresAt } = await offer({ credentials: [jwtVc], expiresIn: { minutes: 9, seconds: 60 } });
    expect(Date.parse(expiresAt) - before).toBeGreaterThanOrEqual(600_000);
    expect(Date.parse(expiresAt) - before).toBeLessThan(605_000);
  });

  it.each<[string, Record<string, unknown>, string]>([
    ['an unknown configuration', { credentials: [TENANT] }, 'credentials'],
    ['no claim set', { credentials: [{ credentialConfigurationId: TENANT }] }, 'credentials.0.claimSets'],
    ['a malformed id', { credentials: ['foo'] }, 'credentials'],
    ['null', { credentials: [null] }, 'credentials'],
    ['an unknown user', { credentials: 'valid', userId: TENANT }, 'userId'],
    ['no life', { credentials: 'valid', expiresIn: {} }, 'expiresIn'],
    ['too long a life', { credentials: 'valid', expiresIn: { minutes: 10, seconds: 1 } }, 'expiresIn'],
    ['a kept claim that is none', { credentials: 'valid', claimsToPersist: ['toString'] }, 'claimsToPersist'],
    [
      'a description with half a character',
      { credentials: 'valid', transactionCodeConfiguration: { description: '\ud800' } },
      'transactionCodeConfiguration.description',
    ],
  ])('is refused with %s', async (_, body, param) => {
    const credentials = body['credentials'] === 'valid' ? [jwtVc] : (body['credentials'] as string[]);
    const error = await refusal(offer({ ...body, credentials }));
    expect([error.code, error.details?.map((detail) => detail.param)]).toEqual(['BadRequest', [param]]);
  });

  it('is refused with a configuration twice, or of another tenant', async () => {
    expect(await refusalCode(offer({ credentials: [jwtVc, jwtVc.toUpperCase()] }))).toBe('BadRequest');
    expect(await refusalCode(offer({ credentials: [jwtVc] }, OTHER))).toBe('BadRequest');
  });

  it('is refused over 500 KB', async () =>
    expect(await refusalCode(offer({ credentials: [jwtVc], claims: { given_name: 'x'.repeat(512_000) } }))).toBe(
      'PayloadTooLarge',
    ));

  it('is ended by its deletion, including its tokens, once', async () => {
    const remove = (id: string, tenantId = TENANT) => admin(deletePreAuthorizedOffer, { params: { id } }, tenantId);
    const open = await offer({ credentials: [jwtVc] });
    expect(await refusalCode(remove(open.id, OTHER))).toBe('NotFound');
    await remove(open.id);
    expect(await refusalCode(redeem(codeOf(open)))).toBe('invalid_grant');
    expect(await refusalCode(remove(open.id))).toBe('NotFound');

    const { made, token } = await start(jwtVc);
    await remove(made.id);
    const nonce = await nonceFor();
    const proofs = { jwt: [await prove(makeWalletKey(), nonce)] };
    expect(await refusalCode(collect(token, { credential_configuration_id: jwtVc, proofs }))).toBe('invalid_token');
  });
});

describe('the state of an offer', () => {
  const stateOf = (id: string, tenantId = TENANT) => admin(retrievePreAuthorizedOffer, { params: { id } }, tenantId);
  const issue = async (token: string, count: number) => {
    const nonce = await nonceFor();
    const jwt = await Promise.all(Array.from({ length: count }, () => prove(makeWalletKey(), nonce)));
    await collect(token, { credential_configuration_id: jwtVc, proofs: { jwt } });
  };

  it('goes from created to redeemed and claimed, with what was issued and without codes and claims', async () => {
    const made = await offer({ credentials: [jwtVc, ldpVc], transactionCodeConfiguration: {} });
    const shown = {
      id: made.id,
      state: 'CREATED',
      credentials: [jwtVc, ldpVc],
      userId: made.userId,
      createdAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/) as string,
      expiresAt: made.expiresAt,
      issuedCredentials: [],
    };
    expect(await stateOf(made.id)).toEqual(shown);
    const { access_token } = await redeem(codeOf(made), { tx_code: made.transactionCode! });
    expect(await stateOf(made.id)).toEqual({ ...shown, state: 'REDEEMED' });
    await issue(access_token, 2);
    await issue(access_token, 1);
    const credential = {
      id: expect.any(String) as string,
      credentialConfigurationId: jwtVc,
      type: 'Course',
      format: 'jwt_vc_json',
      issuedDate: expect.any(String) as string,
      validUntil: expect.any(String) as string,
    };
    // The state stays when code and token have expired.
    for (service.ahead of [0, 3_600_000]) {
      const claimed = await stateOf(made.id);
      expect(claimed).toEqual({ ...shown, state: 'CLAIMED', issuedCredentials: Array(3).fill(credential) });
      const ids = claimed.issuedCredentials.map(({ id }) => id).sort();
      await eventually(async () => {
        const listed = await admin(listUserCredentials, { params: { userId: made.userId } });
        const { data } = listed as PageOf<UserCredential>;
        return isDeepStrictEqual(data.map(({ id }) => id).sort(), ids);
      });
    }
  });

  it('is expired when code or token ended before a credential was issued', async () => {
    const unused = await offer({ credentials: [jwtVc] });
    const { made } = await start(jwtVc);
    service.ahead = 299_000;
    expect(await stateOf(unused.id)).toMatchObject({ state: 'CREATED' });
    service.ahead = 301_000;
    for (const { id } of [unused, made])
      expect(await stateOf(id)).toMatchObject({ id, state: 'EXPIRED', issuedCredentials: [] });
  });

  it('is locked after the third wrong transaction code', async () => {
    const made = await offer({ credentials: [jwtVc], transactionCodeConfiguration: {} });
    const wrong = made.transactionCode === '000000' ? '000001' : '000000';
    for (let i = 0; i < 3; i++) await refusalCode(redeem(codeOf(made), { tx_code: wrong }));
    expect(await stateOf(made.id)).toMatchObject({ id: made.id, userId: made.userId, state: 'LOCKED' });
  });

  it('is that of a deletion, and does not exist for other tenants, unknown ids and deleted users [T448]', async () => {
    const { made } = await start(jwtVc);
    expect(await refusalCode(stateOf(made.id, OTHER))).toBe('NotFound');
    for (const id of [TENANT, made.userId]) expect(await refusalCode(stateOf(id))).toBe('NotFound');
    expect(await refusalCode(stateOf('no-uuid'))).toBe('BadRequest');
    const deleted = await offer({ credentials: [jwtVc] });
    await admin(deletePreAuthorizedOffer, { params: { id: deleted.id } });
    expect(await stateOf(deleted.id)).toMatchObject({ id: deleted.id, state: 'DELETED', issuedCredentials: [] });
    expect(await refusalCode(stateOf(deleted.id, OTHER))).toBe('NotFound');
    await admin(deleteUser, { params: { id: made.userId } });
    expect(await refusalCode(stateOf(made.id))).toBe('NotFound');
  });
});
