/** @engines embedded */
import { expectStatus } from '@attestry/testing';
import {
  attested,
  changed,
  CODE_REFUSED,
  collect,
  detailsOf,
  DISABLED,
  ids,
  NONE,
  offer,
  Offered,
  post,
  PRE_AUTHORIZED,
  PUBLIC,
  received,
  redeem,
  refused,
  SCOPE,
  startRefusals,
  strict,
  tenant,
  TOKEN,
  tokenRefused,
  wallet,
} from './wallet-refusals.js';

startRefusals('tokens');

describe('a token request with an authorization code', () => {
  it.each<[string, (code: string) => Record<string, string | undefined>, string]>([
    ['an unknown code', () => ({ code: 'x' }), 'the code is not valid'],
    ['a changed code', (code) => ({ code: changed(code) }), 'the code is not valid'],
    ['another client', () => ({ client_id: 'https://other.example' }), 'the code was issued to another client'],
    [
      'another redirect_uri',
      () => ({ redirect_uri: `${PUBLIC}/other` }),
      'redirect_uri must be the one of the authorization request',
    ],
    ['another code_verifier', () => ({ code_verifier: 'x'.repeat(43) }), 'code_verifier does not match code_challenge'],
    ['no code_verifier', () => ({ code_verifier: undefined }), 'code_verifier is missing'],
  ])('is refused with %s, which spends no code [T78] [T473]', async (_, change, description) => {
    const code = await wallet.obtainCode(SCOPE, {}, NONE);
    expect(received(await wallet.exchange(code, change(code), NONE))).toEqual(
      refused(400, 'invalid_grant', description),
    );
    expect((await wallet.exchange(code, {}, NONE)).status).toBe(200);
  });

  it('is refused with a code that was used, whose token ends [T78] [T473]', async () => {
    const code = await wallet.obtainCode(SCOPE, {}, NONE);
    const exchange = () => wallet.exchange(code, {}, NONE);
    const { access_token: token } = expectStatus(await exchange(), 200);
    expect((await collect(token, {})).body.error).toBe('invalid_credential_request');
    expect(received(await exchange())).toEqual(refused(400, 'invalid_grant', 'the code has already been used'));
    expect(received(await collect(token, {}))).toEqual(tokenRefused('Bearer'));
  });
});

describe('a token request with a pre-authorized code', () => {
  const withTransactionCode = () => offer({ transactionCodeConfiguration: {} });
  const wrongFor = ({ transactionCode }: Offered) => (transactionCode === '000000' ? '000001' : '000000');

  it.each<[string, () => Promise<string>]>([
    ['is unknown', () => Promise.resolve('x')],
    ['was changed', async () => changed((await offer()).code)],
    ['is of another tenant', async () => (await offer({}, strict)).code],
    [
      'was used',
      async () => {
        const { code } = await offer();
        expect((await redeem(code)).status).toBe(200);
        return code;
      },
    ],
    [
      'was deleted',
      async () => {
        const { id, code } = await offer();
        expectStatus(await tenant.api.offers.delete(id), 204);
        return code;
      },
    ],
  ])('that %s is refused [T79] [T473]', async (_, make) =>
    expect(received(await redeem(await make()))).toEqual(CODE_REFUSED),
  );

  it('needs the transaction code, and is locked after three wrong ones [T79] [T473]', async () => {
    const offered = await withTransactionCode();
    const send = (tx_code: string) => redeem(offered.code, { tx_code });
    expect(received(await redeem(offered.code))).toEqual(refused(400, 'invalid_request', 'tx_code is missing'));
    for (let n = 0; n < 3; n++)
      expect(received(await send(wrongFor(offered)))).toEqual(refused(400, 'invalid_grant', 'tx_code is wrong'));
    expect(received(await send(offered.transactionCode!))).toEqual(CODE_REFUSED);
    const once = await withTransactionCode();
    expect((await redeem(once.code, { tx_code: wrongFor(once) })).status).toBe(400);
    expect((await redeem(once.code, { tx_code: once.transactionCode! })).status).toBe(200);
  });

  it('takes no transaction code that the offer does not have [T79] [T473]', async () => {
    const { code } = await offer();
    expect(received(await redeem(code, { tx_code: '123456' }))).toEqual(
      refused(400, 'invalid_request', 'tx_code must not be sent: the offer has no transaction code'),
    );
    expect((await redeem(code)).status).toBe(200);
  });

  it.each<[string, () => string, string]>([
    ['are no JSON', () => '{', 'authorization_details must be JSON: it ends too early, at line 1, column 2'],
    ['have another type', () => '[{"type":"payment"}]', 'type must be openid_credential'],
    [
      'were not offered',
      () => detailsOf(ids['Other']!),
      'credential_configuration_id was neither offered nor requested',
    ],
  ])('is refused with authorization_details that %s [T77] [T473]', async (_, details, description) => {
    const { code } = await offer();
    expect(received(await redeem(code, { authorization_details: details() }))).toEqual(
      refused(400, 'invalid_authorization_details', description),
    );
    expect((await redeem(code)).status).toBe(200);
  });
});

describe('a token request', () => {
  it('has no authorization_details where the issuer chose claim sets, with any grant [T80] [T355] [T473]', async () => {
    const authorization_details = detailsOf(ids['Pass']!);
    const expected = refused(
      400,
      'invalid_authorization_details',
      'authorization_details must not be sent: the issuer chose the credentials of the offer',
    );
    const credentials = [{ credentialConfigurationId: ids['Pass']!, claimSets: [{ claims: { given_name: 'Ada' } }] }];
    const { code } = await offer({ credentials });
    expect(received(await redeem(code, { authorization_details }))).toEqual(expected);
    expect((await redeem(code)).status).toBe(200);

    const { uri } = expectStatus(await tenant.api.offers.createOpen({ credentials }), 200);
    const { grants } = JSON.parse(new URL(uri).searchParams.get('credential_offer')!) as {
      grants: { authorization_code: { issuer_state: string } };
    };
    const unbound = { dpop: null };
    const granted = await attested.obtainCode(SCOPE, grants.authorization_code, unbound);
    expect(received(await attested.exchange(granted, { authorization_details }, unbound))).toEqual(expected);
    const { refresh_token } = expectStatus(await attested.exchange(granted, {}, unbound), 200);
    const refresh = (more: object = {}) => {
      const absent = { code: undefined, redirect_uri: undefined, code_verifier: undefined };
      return attested.exchange('', { grant_type: 'refresh_token', refresh_token, ...absent, ...more }, unbound);
    };
    expect(received(await refresh({ authorization_details }))).toEqual(expected);
    expect((await refresh()).status).toBe(200);
  });

  it.each<[string, () => unknown, string, string, string?]>([
    ['no grant_type', () => new URLSearchParams({ code: 'x' }), 'invalid_request', 'grant_type is missing'],
    [
      'an unknown grant_type',
      () => new URLSearchParams({ grant_type: 'password', username: 'x', password: 'x' }),
      'unsupported_grant_type',
      `grant_type must be one of ${PRE_AUTHORIZED}, authorization_code, refresh_token`,
    ],
    [
      'no code',
      () => new URLSearchParams({ grant_type: PRE_AUTHORIZED }),
      'invalid_request',
      'pre-authorized_code is missing',
    ],
    [
      'a repeated parameter',
      () => new URLSearchParams([...['a', 'b'].map((code) => ['code', code]), ['grant_type', 'authorization_code']]),
      'invalid_request',
      'a parameter must not be sent more than once',
    ],
    [
      'a JSON body',
      () => ({ grant_type: PRE_AUTHORIZED }),
      'invalid_request',
      'the content type must be application/x-www-form-urlencoded',
    ],
    [
      'parameters in the query',
      () => new URLSearchParams(),
      'invalid_request',
      'grant_type must not be in the query string',
      `?grant_type=${PRE_AUTHORIZED}`,
    ],
  ])('with %s is refused [T76] [T473]', async (_, body, error, description, query = '') =>
    expect(received(await post(`${TOKEN}${query}`, body()))).toEqual(refused(400, error, description)),
  );

  it('of a disabled wallet is refused [T213] [T473]', async () => {
    const { code } = await offer();
    expect(received(await redeem(code, { client_id: DISABLED }))).toEqual(
      refused(400, 'unauthorized_client', 'this issuer has disabled the wallet'),
    );
  });
});
