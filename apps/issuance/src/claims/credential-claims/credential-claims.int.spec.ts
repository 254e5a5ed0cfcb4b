/** @engines embedded postgres */
import {
  createOffer,
  createUser,
  deletePreAuthorizedOffer,
  deleteUser,
  retrieveUser,
  updateUser,
  webSemanticConfigurations,
  type PreAuthorizedOffer,
} from '@attestry/contracts';
import { isErased, type StoredValue } from '@attestry/keys';
import { CredentialFlow, IssuanceUnderTest, makeWalletKey, refusal, refusalCode } from '@attestry/testing/services';
import { issuanceService } from '../../index.js';
import { issuanceSessionStream } from '../../sessions/issuance-session/issuance-session.state.js';
import { SessionKeys } from '../../offers/session-keys/session-keys.js';
import { UsersReadModel } from '../../users/user/users.read-model.js';

const { TENANT } = IssuanceUnderTest;

const service = new CredentialFlow(issuanceService);
const { admin, makeOffer: offer, codeOf, exchange: redeem, nonceFor, prove, collect } = service;
const { configureFormat: configure, begin: start, verified } = service;
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

describe('claims', () => {
  it('are stored on a new user only when the offer requests it', async () => {
    const { userId } = await offer({
      credentials: [jwtVc],
      claims: { given_name: 'Ada', secret: 'x' },
      claimsToPersist: ['given_name'],
    });
    expect(await admin(retrieveUser, { params: { id: userId } })).toEqual({
      id: userId,
      claims: { given_name: 'Ada' },
    });
  });

  it("of the offer override the user's own, without merging nested values", async () => {
    const { id: userId } = (await admin(createUser, {
      body: { claims: { given_name: 'Augusta', address: { city: 'London' }, 'https://acme.example/nick': 'Countess' } },
    })) as { id: string };
    const { token } = await start(jwtVc, {
      userId,
      claims: { given_name: 'Ada', address: {} },
      claimsToPersist: ['address'],
    });
    const proofs = { jwt: [await prove(makeWalletKey(), await nonceFor())] };
    const { credentials } = await collect(token, { credential_configuration_id: jwtVc, proofs });
    expect((await verified(credentials[0]!.credential)).vc.credentialSubject).toEqual({
      id: expect.stringMatching(/^did:jwk:/) as string,
      givenName: 'Ada',
      level: 3,
      nick: 'Countess',
    });
    expect(((await admin(retrieveUser, { params: { id: userId } })) as { claims: object }).claims).toEqual({
      given_name: 'Augusta',
      address: {},
      'https://acme.example/nick': 'Countess',
    });
  });

  it('that are required but missing are named when the offer is created, which changes nothing [T435]', async () => {
    const before = await service.engines.events.head();
    const claims = { family_name: 'Lovelace' };
    expect((await refusal(offer({ credentials: [jwtVc, ldpVc], claims }))).details).toEqual(
      [jwtVc, ldpVc].map((id) => ({
        msg: `must fit credential configuration ${id}: the required claim givenName, mapped from claims.given_name, has no value`,
        param: 'claims',
        location: 'body',
      })),
    );
    expect(await service.engines.events.head()).toEqual(before);
  });

  it("may be the user's own, or those of a claim set [T435]", async () => {
    const { id: userId } = (await admin(createUser, { body: { claims: { given_name: 'Grace' } } })) as { id: string };
    await offer({ credentials: [jwtVc], claims: {}, userId });
    const claimSets = [{ claims: { given_name: 'Ada' } }, { claims: {} }];
    const credentials = [{ credentialConfigurationId: jwtVc, claimSets }];
    await offer({ credentials, claims: {}, userId });
    expect((await refusal(offer({ credentials, claims: {} }))).details).toMatchObject([
      { param: 'credentials.0.claimSets.1.claims' },
    ]);
    await admin(updateUser, { params: { id: userId }, body: {} });
    expect((await refusal(offer({ credentials: [jwtVc], claims: {}, userId }))).details).toMatchObject([
      { param: 'claims' },
    ]);
  });

  it('that are required but have been removed from the user cause the credential to be denied [T436]', async () => {
    const { id: userId } = (await admin(createUser, { body: { claims: { given_name: 'Grace' } } })) as { id: string };
    const { token } = await start(jwtVc, { claims: {}, userId });
    await admin(updateUser, { params: { id: userId }, body: { claims: { family_name: 'Hopper' } } });
    const proofs = { jwt: [await prove(makeWalletKey(), await nonceFor())] };
    const error = await refusal(collect(token, { credential_configuration_id: jwtVc, proofs }));
    expect([error.code, error.message]).toEqual([
      'credential_request_denied',
      'the required claim givenName has no value',
    ]);
  });

  it('of a deleted user are unreadable', async () => {
    const { made, token } = await start(jwtVc);
    await admin(deleteUser, { params: { id: made.userId } });
    const proofs = { jwt: [await prove(makeWalletKey(), await nonceFor())] };
    expect(await refusalCode(collect(token, { credential_configuration_id: jwtVc, proofs }))).toBe(
      'credential_request_denied',
    );
  });

  const collectJwtVc = async (token: string) => {
    const proofs = { jwt: [await prove(makeWalletKey(), await nonceFor())] };
    return collect(token, { credential_configuration_id: jwtVc, proofs });
  };
  const storedOf = async (made: PreAuthorizedOffer): Promise<StoredValue> => {
    const [created] = await service.engines.events.readStream(issuanceSessionStream(TENANT, made.id));
    return (created!.data as { storedClaims: StoredValue }).storedClaims;
  };
  const opened = async (stored: StoredValue) => {
    const text = await service.engines.vault.sealing.openStored(TENANT, 'session', stored);
    return isErased(text) ? 'erased' : text;
  };

  it('of a deleted user who began with the offer are erased also while the read model is behind', async () => {
    const made = await offer({ credentials: [jwtVc] });
    const users = service.get(UsersReadModel);
    users.sessionsOf = async () => [];
    try {
      await admin(deleteUser, { params: { id: made.userId } });
    } finally {
      delete (users as Partial<UsersReadModel>).sessionsOf;
    }
    expect(await opened(await storedOf(made))).toBe('erased');
  });

  it('are erased with the session, a minute after its code has expired', async () => {
    const made = await offer({ credentials: [jwtVc] });
    const keys = service.get(SessionKeys);
    const sealed = await storedOf(made);
    service.ahead = 300_000 + 50_000;
    await keys.sweep();
    expect(await opened(sealed)).toBe('{"given_name":"Ada"}');
    service.ahead = 300_000 + 61_000;
    expect(await keys.sweep()).toBeGreaterThan(0);
    expect(await opened(sealed)).toBe('erased');
    expect(await keys.sweep()).toBe(0);
  });

  it('remain until the token of a redeemed code has expired, and are used until then', async () => {
    const made = await offer({ credentials: [jwtVc] });
    const keys = service.get(SessionKeys);
    const sealed = await storedOf(made);
    service.ahead = 290_000;
    const { access_token: token } = await redeem(codeOf(made));
    service.ahead = 580_000;
    await keys.sweep();
    expect(await opened(sealed)).toBe('{"given_name":"Ada"}');
    const proofs = { jwt: [await prove(makeWalletKey(), await nonceFor())] };
    const { credentials } = await collect(token, { credential_configuration_id: jwtVc, proofs });
    expect(credentials).toHaveLength(1);
    service.ahead = 590_000 + 61_000;
    await keys.sweep();
    expect(await opened(sealed)).toBe('erased');
  });

  it('are stored with the key of their session, and the event only names them [T580]', async () => {
    const made = await offer({ credentials: [jwtVc], claims: { given_name: 'Ada', note: 'n'.repeat(20_000) } });
    const [created] = await service.engines.events.readStream(issuanceSessionStream(TENANT, made.id));
    expect(created).toMatchObject({
      schemaVersion: 3,
      data: {
        storedClaims: {
          keyId: made.id,
          length: expect.any(Number) as number,
          sha256: expect.stringMatching(/^[\w-]{43}$/) as string,
        },
      },
    });
    expect(created!.data).not.toHaveProperty('sealedClaims');
    expect(JSON.stringify(created).length).toBeLessThan(5_000);
    expect(await collectJwtVc((await redeem(codeOf(made))).access_token)).toHaveProperty('credentials.0');
  });

  it('are destroyed with their session, and again when its code has expired', async () => {
    const keys = service.get(SessionKeys);
    const made = await offer({ credentials: [jwtVc] });
    const sealed = await storedOf(made);
    await admin(deletePreAuthorizedOffer, { params: { id: made.id } });
    expect(await opened(sealed)).toBe('erased');
    service.ahead = 300_000 + 61_000;
    expect(await keys.sweep()).toBeGreaterThan(0);
    expect(await keys.sweep()).toBe(0);
  });
});

describe('claims that linked data cannot express', () => {
  const NESTED =
    'must not have arrays in arrays, which JSON-LD reads as one array: use objects with named members, or a context that defines the term with the container @list or the type @json';
  const ROWS: [string, unknown, string][] = [
    [
      'an id that is no IRI',
      { id: '12345' },
      'must have absolute IRIs as id, such as urn:uuid:1b4e28ba-2fa1-11d2-883f-0016d3cca427: other identifiers need another name',
    ],
    ['a type with a space', { type: 'Foo Bar' }, 'must have types that are absolute IRIs or names without spaces'],
    [
      'a member name with a space',
      [{ 'Street Name': 'Main' }],
      'must have member names that are allowed in an IRI, without spaces',
    ],
    [
      'arrays in arrays',
      [
        ['math', 1],
        ['physics', 5],
      ],
      NESTED,
    ],
  ];
  const claimMappings = { details: { mapFrom: 'claims.about' }, name: { mapFrom: 'claims.given_name' } };
  let id: string;
  beforeAll(async () => (id = await configure('ldp_vc', 'Checked', { claimMappings })));
  const detailsOf = async (promise: Promise<unknown>) => (await refusal(promise)).details;
  const detail = (msg: string, param = 'claims') => [
    { msg: `must fit credential configuration ${id}: details ${msg}`, param, location: 'body' },
  ];

  it.each(ROWS)('are refused at each offer, with configuration and claim: %s [T568]', async (_, about, msg) => {
    const claims = { given_name: 'Ada', about };
    expect(await detailsOf(offer({ credentials: [jwtVc, id], claims }))).toEqual(detail(msg));
    const sets = [{ credentialConfigurationId: id, claimSets: [{ claims: { about: { level: 1 } } }, { claims }] }];
    const param = 'credentials.0.claimSets.1.claims';
    expect(await detailsOf(offer({ credentials: sets, claims: {} }))).toEqual(detail(msg, param));
    expect(await detailsOf(admin(createOffer, { body: { credentials: sets } }))).toEqual(detail(msg, param));
    // The user's own.
    const { id: userId } = (await admin(createUser, { body: { claims } })) as { id: string };
    expect(await detailsOf(offer({ credentials: [id], userId, claims: { other: 1 } }))).toEqual(detail(msg));
    // Claims of the offer win.
    await offer({ credentials: [id], userId, claims: { about: 'plain' } });
    await offer({ credentials: [jwtVc], claims });
  });

  it.each(ROWS)(
    'are denied with the claim when they are known at the issuance only: %s [T568]',
    async (_, about, msg) => {
      const { id: userId } = (await admin(createUser, {})) as { id: string };
      const { token } = await start(id, { userId, claims: { given_name: 'Ada' } });
      await admin(updateUser, { params: { id: userId }, body: { claims: { about } } });
      const proofs = { jwt: [await prove(makeWalletKey(), await nonceFor())] };
      const denied = await refusal(collect(token, { credential_configuration_id: id, proofs }));
      expect([denied.code, denied.message]).toEqual(['credential_request_denied', `details ${msg}`]);
    },
  );

  it.each(ROWS)('are refused as a default value of a configuration: %s [T568]', async (_, defaultValue, msg) => {
    const of = (value: unknown) => ({
      claimMappings: { ...claimMappings, grades: { mapFrom: 'claims.x', defaultValue: value } },
    });
    const expected = [
      {
        msg: `has a defaultValue that no credential can have: it ${msg}`,
        param: 'claimMappings.grades',
        location: 'body',
      },
    ];
    expect(await detailsOf(configure('ldp_vc', 'Defaults', of(defaultValue)))).toEqual(expected);
    const made = await configure('ldp_vc', `Defaults ${_}`.replaceAll(' ', '-'), of({ level: 1 }));
    const {
      id: _id,
      issuerDid: _did,
      ...body
    } = (await admin(webSemanticConfigurations.retrieve, {
      params: { id: made },
    })) as { id: string; issuerDid: string };
    const update = (value: unknown) =>
      admin(webSemanticConfigurations.update, { params: { id: made }, body: { ...body, ...of(value) } });
    expect(await detailsOf(update(defaultValue))).toEqual(expected);
    await update([1, 2]);
    await configure('jwt_vc_json', `Defaults ${_}`.replaceAll(' ', '-'), of(defaultValue));
  });
});
