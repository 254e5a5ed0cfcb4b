/** @engines embedded postgres */
import { randomUUID } from 'node:crypto';
import {
  createOffer,
  exchangeToken,
  issueCredential,
  updateUser,
  webSemanticConfigurations,
  type AccessTokenResponse,
  type CredentialResponse,
  type OfferRequest,
} from '@attestry/contracts';
import { chainEvent } from '@attestry/event-store';
import { IssuanceUnderTest, makeWalletKey } from '@attestry/testing/services';
import { authorizationOfferStream } from '../../sessions/authorization-offer/authorization-offer.state.js';
import { credentialConfigurationStream } from '../../settings/credential-configuration/credential-configuration.state.js';
import { issuanceService } from '../../index.js';
import { grantContext, makeBearerValue } from '../../sessions/bearer-value/bearer-value.js';
import { userStream } from '../../users/user/user.state.js';

const { TENANT, BACK } = IssuanceUnderTest;
const GRADES = [
  ['math', 1],
  ['physics', 5],
];
const NESTED = /^grades must not have arrays in arrays/;

/** Claims of the person who signs in. */
let ofProvider: Record<string, unknown> = {};
let subjectId: string;
const issuance = new IssuanceUnderTest(issuanceService, {
  settings: { WALLET_REDIRECT_URIS: BACK },
  person: () => ({ subjectId, claims: ofProvider }),
});
const { admin, authorization, codeGrant, sendForm, sendJson, signIn } = issuance;
const claimMappings = { grades: { mapFrom: 'claims.grades' }, name: { mapFrom: 'claims.name' } };
let id: string;

beforeAll(async () => {
  await issuance.open();
  id = await configure('Grades');
});
beforeEach(() => {
  ofProvider = {};
  subjectId = randomUUID();
});
afterAll(() => issuance.remove());

const configure = async (type: string): Promise<string> => {
  const body = { type, name: type, issuer: { name: 'Acme' }, claimMappings };
  return (await admin(webSemanticConfigurations.create, { body })).id;
};

/** Appends an event as a release before version 3.0.0 stored it. */
const append = async (
  stream: string,
  event: { type: string; schemaVersion: number; data: object },
  like = stream,
): Promise<void> => {
  const { events } = issuance.engines;
  const [first] = await events.readStream(like);
  const before = like === stream ? await events.readStream(stream) : [];
  const { record: _, ...metadata } = first!.metadata;
  const chained = chainEvent(before.at(-1)?.chain ?? '', { id: randomUUID(), ...event, metadata });
  await events.append(stream, [chained], before.length - 1);
};

/** Afterwards no process knows a state of its own. */
const restart = async () => {
  await issuance.close();
  await issuance.open();
};

const offer = async (body: OfferRequest) => {
  const { id: offerId, uri } = await admin(createOffer, { body });
  const { grants } = JSON.parse(new URL(uri).searchParams.get('credential_offer')!) as {
    grants: { authorization_code: { issuer_state: string } };
  };
  return { offerId: offerId!, issuerState: grants.authorization_code.issuer_state };
};

/** @returns its `issuer_state` */
const offerOfBefore = async (claims: object): Promise<string> => {
  const made = await offer({ credentials: [{ credentialConfigurationId: id, claimSets: [{ claims: {} }] }] });
  const like = authorizationOfferStream(TENANT, made.offerId);
  const [created] = await issuance.engines.events.readStream(like);
  const { storedClaimSets: _, ...data } = created!.data as {
    storedClaimSets: object;
    issuerState: object;
    identifiers: { credentialIdentifiers: [string] }[];
  };
  const { sealing, macs } = issuance.engines.vault;
  const offerId = randomUUID();
  const { value, tokenId } = makeBearerValue(offerId, randomUUID());
  const { mac, pepper } = macs.mac(value, grantContext('issuerState', TENANT, offerId));
  const sets = [{ identifier: data.identifiers[0]!.credentialIdentifiers[0], claims }];
  const { sealed, newKey } = sealing.sealWithNewKey(TENANT, 'session', offerId, JSON.stringify(sets));
  await newKey.store();
  const issuerState = { ...data.issuerState, tokenId, mac, keyId: pepper };
  await append(
    authorizationOfferStream(TENANT, offerId),
    {
      type: 'AuthorizationOfferCreated',
      schemaVersion: 1,
      data: { ...data, offerId, issuerState, sealedClaimSets: sealed },
    },
    like,
  );
  return value;
};

const redeem = async (parameters: Record<string, string> = {}): Promise<AccessTokenResponse> => {
  const code = await signIn(authorization({ scope: 'ldp_vc:Grades', ...parameters }));
  return (await sendForm<AccessTokenResponse>(exchangeToken, codeGrant(code))).body;
};
/** `error_description` of a sign-in that ends with `access_denied`. */
const denial = async (parameters: Record<string, string>) => {
  const back = await issuance.authorize(authorization({ scope: 'ldp_vc:Grades', ...parameters }));
  expect(back.searchParams.get('error')).toBe('access_denied');
  return back.searchParams.get('error_description');
};
const collect = async ({ access_token: token, authorization_details: details }: AccessTokenResponse) => {
  const identifier = details?.[0]?.credential_identifiers[0];
  const { body } = await sendJson<CredentialResponse & { error_description?: string }>(
    issueCredential,
    {
      ...(identifier === undefined ? { credential_configuration_id: id } : { credential_identifier: identifier }),
      proofs: { jwt: [await issuance.proveKey(makeWalletKey())] },
    },
    { authorization: `Bearer ${token}` },
  );
  const credential = body.credentials?.[0]?.credential as { credentialSubject: object } | undefined;
  return credential?.credentialSubject ?? body.error_description;
};

describe('claims that were stored before they were checked', () => {
  it('are issued from the claim sets of a stored offer; what the sign-in adds now is checked [T686]', async () => {
    const before = await offerOfBefore({ grades: GRADES });
    expect(await collect(await redeem({ issuer_state: before }))).toMatchObject({ grades: GRADES });
    // The claim set takes precedence.
    ofProvider = { grades: [['art', 2]], name: 'Zoe' };
    expect(await collect(await redeem({ issuer_state: before }))).toMatchObject({ grades: GRADES, name: 'Zoe' });
    const other = await offerOfBefore({ name: 'Ada' });
    expect(await denial({ issuer_state: other })).toMatch(NESTED);
    const claimSets = [{ claims: { grades: GRADES } }];
    await expect(offer({ credentials: [{ credentialConfigurationId: id, claimSets }] })).rejects.toMatchObject({
      details: [{ param: 'credentials.0.claimSets.0.claims' }],
    });
  });

  it('are issued from a user until they are replaced [T687]', async () => {
    const session = await redeem();
    const { events } = await issuance.engines.events.readAll({ limit: 1000 });
    const { stream } = events.filter(({ type }) => type === 'UserCreated').at(-1)!;
    const userId = stream.slice(userStream(TENANT, '').length);
    const { sealing } = issuance.engines.vault;
    await sealing.createDataKey(TENANT, 'user', userId);
    const sealedClaims = await sealing.sealText(TENANT, 'user', userId, JSON.stringify({ grades: GRADES }));
    await append(stream, { type: 'UserClaimsReplaced', schemaVersion: 1, data: { sealedClaims } });
    await restart();
    expect(await collect(session)).toMatchObject({ grades: GRADES });
    await admin(updateUser, { params: { id: userId }, body: { claims: { grades: GRADES } } });
    expect(await collect(session)).toMatch(NESTED);
  });

  it('are issued as default values of a configuration [T687]', async () => {
    id = await configure('Defaults');
    const stream = credentialConfigurationStream(TENANT, id);
    const [created] = await issuance.engines.events.readStream(stream);
    const { content } = created!.data as { content: object };
    const withDefault = { ...content, claimMappings: { grades: { mapFrom: 'claims.x', defaultValue: GRADES } } };
    await append(stream, {
      type: 'CredentialConfigurationContentReplaced',
      schemaVersion: 1,
      data: { content: withDefault },
    });
    await restart();
    expect(await collect(await redeem({ scope: 'ldp_vc:Defaults' }))).toMatchObject({ grades: GRADES });
    ofProvider = { x: GRADES };
    expect(await denial({ scope: 'ldp_vc:Defaults' })).toMatch(NESTED);
    await expect(offer({ credentials: [id] })).rejects.toMatchObject({
      details: [{ param: 'claims' }],
    });
  });
});
