/** @engines embedded postgres */
import { AppError, deletePreAuthorizedOffer } from '@attestry/contracts';
import { waitUntil } from '@attestry/testing';
import { CredentialFlow, IssuanceUnderTest, makeWalletKey, refusalCode } from '@attestry/testing/services';
import { issuanceService } from '../../index.js';
import { issuanceSession, issuanceSessionStream } from '../../sessions/issuance-session/issuance-session.state.js';

const { TENANT, OTHER, PRE_AUTHORIZED: GRANT } = IssuanceUnderTest;

const service = new CredentialFlow(issuanceService);
const { admin, makeOffer: offer, documentOf: read, codeOf, exchange: redeem, nonceFor, prove, collect } = service;
const { configureFormat: configure, outcomes } = service;
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

describe('the token endpoint', () => {
  it('returns an opaque token and the scope', async () => {
    const made = await offer({ credentials: [jwtVc, ldpVc] });
    expect(await redeem(codeOf(made))).toEqual({
      access_token: expect.stringMatching(/^[A-Za-z0-9_-]{86}$/) as string,
      token_type: 'Bearer',
      expires_in: 300,
      scope: 'jwt_vc_json:Course ldp_vc:Course',
    });
    const request = `request-${service.requests}`;
    await eventually(() => outcomes(request).length > 0);
    expect(outcomes(request)).toEqual(['OPENID_TOKEN_SUCCESS']);
  });

  it('redeems a code once, also with concurrent calls', async () => {
    const made = await offer({ credentials: [jwtVc] });
    const tries = await Promise.allSettled(Array.from({ length: 8 }, () => redeem(codeOf(made))));
    expect(tries.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    for (const failed of tries)
      if (failed.status === 'rejected') expect((failed.reason as AppError).code).toBe('invalid_grant');
    expect(await refusalCode(redeem(codeOf(made)))).toBe('invalid_grant');
    const request = `request-${service.requests}`;
    await eventually(() => outcomes(request).length > 0);
    expect(outcomes(request)).toEqual(['OPENID_TOKEN_FAIL']);
  });

  it('refuses expired, foreign and modified codes, and records nothing for them', async () => {
    const made = await offer({ credentials: [jwtVc] });
    const value = codeOf(made);
    expect(await refusalCode(redeem(value, {}, OTHER))).toBe('invalid_grant');
    const noise = `request-${service.requests}`;
    const changed = `${value.slice(0, -4)}${value.endsWith('AAAA') ? 'BBBA' : 'AAAA'}`;
    expect(await refusalCode(redeem(changed))).toBe('invalid_grant');
    const named = `request-${service.requests}`;
    await eventually(() => outcomes(named).length > 0);
    expect(outcomes(named)).toEqual(['OPENID_TOKEN_FAIL']);
    expect(outcomes(noise)).toEqual([]);
    for (const bad of ['x', value.slice(1), `${value}A`, `${value}=`])
      expect(await refusalCode(redeem(bad))).toBe('invalid_grant');
    service.ahead = 300_000;
    expect(await refusalCode(redeem(value))).toBe('invalid_grant');
  });

  it('requires the transaction code, and locks the offer at the third wrong one', async () => {
    const make = () =>
      offer({
        credentials: [jwtVc],
        transactionCodeConfiguration: { inputMode: 'numeric', description: 'See the letter' },
      });
    const made = await make();
    expect(made.transactionCode).toMatch(/^\d{6}$/);
    expect(read(made).grants[GRANT]!.tx_code).toEqual({
      length: 6,
      input_mode: 'numeric',
      description: 'See the letter',
    });
    const wrong = made.transactionCode === '000000' ? '000001' : '000000';
    for (let i = 0; i < 4; i++) expect(await refusalCode(redeem(codeOf(made)))).toBe('invalid_request');
    for (let i = 0; i < 2; i++)
      expect(await refusalCode(redeem(codeOf(made), { tx_code: wrong }))).toBe('invalid_grant');
    expect((await redeem(codeOf(made), { tx_code: made.transactionCode! })).token_type).toBe('Bearer');

    const locked = await make();
    const guess = locked.transactionCode === '000000' ? '000001' : '000000';
    const guesses = await Promise.allSettled(
      Array.from({ length: 6 }, () => redeem(codeOf(locked), { tx_code: guess })),
    );
    for (const each of guesses)
      expect(each.status === 'rejected' && (each.reason as AppError).code).toBe('invalid_grant');
    expect(await refusalCode(redeem(codeOf(locked), { tx_code: locked.transactionCode! }))).toBe('invalid_grant');
    const { state } = await service.engines.streams.load(issuanceSession, issuanceSessionStream(TENANT, locked.id));
    expect(state).toEqual({ status: 'locked', id: locked.id });
    const counted = (await service.engines.events.readStream(issuanceSessionStream(TENANT, locked.id))).map(
      ({ type }) => type,
    );
    const wrongCode = 'TransactionCodeRefused';
    expect(counted).toEqual(['PreAuthorizedOfferCreated', wrongCode, wrongCode, wrongCode, 'SessionLocked']);
    expect(await refusalCode(admin(deletePreAuthorizedOffer, { params: { id: locked.id } }))).toBe('NotFound');
    expect(await refusalCode(redeem(codeOf(await offer({ credentials: [jwtVc] })), { tx_code: '1' }))).toBe(
      'invalid_request',
    );
  });

  it('accepts a text code in upper and lower case', async () => {
    const made = await offer({ credentials: [jwtVc], transactionCodeConfiguration: { inputMode: 'text' } });
    expect(made.transactionCode).toMatch(/^[2-9A-HJ-KM-NP-Z]{6}$/);
    await redeem(codeOf(made), { tx_code: made.transactionCode!.toLowerCase() });
  });

  it('grants authorization details with identifiers, or with the configuration of the only one [T740]', async () => {
    const made = await offer({ credentials: [jwtVc, ldpVc] });
    const details = (...ids: string[]) => ({
      authorization_details: JSON.stringify(
        ids.map((id) => ({ type: 'openid_credential', credential_configuration_id: id })),
      ),
    });
    expect(await refusalCode(redeem(codeOf(made), details(TENANT)))).toBe('invalid_authorization_details');
    expect(await refusalCode(redeem(codeOf(made), details(jwtVc, jwtVc)))).toBe('invalid_authorization_details');
    const { access_token: token, scope, authorization_details: granted } = await redeem(codeOf(made), details(jwtVc));
    expect(scope).toBe('jwt_vc_json:Course');
    expect(granted).toEqual([
      {
        type: 'openid_credential',
        credential_configuration_id: jwtVc,
        credential_identifiers: [expect.stringMatching(/^[0-9a-f-]{36}$/) as string],
      },
    ]);
    const proofs = { jwt: [await prove(makeWalletKey(), await nonceFor())] };
    expect(await refusalCode(collect(token, { credential_identifier: 'x', proofs }))).toBe(
      'unknown_credential_identifier',
    );
    for (const named of [
      { credential_identifier: granted![0]!.credential_identifiers[0] },
      { credential_configuration_id: jwtVc },
    ]) {
      const fresh = { jwt: [await prove(makeWalletKey(), await nonceFor())] };
      expect((await collect(token, { ...named, proofs: fresh })).credentials).toHaveLength(1);
    }
  });
});
