/** @engines embedded postgres */
import { type JWK } from 'jose';
import {
  createIaca,
  createPreAuthorizedOffer,
  createUser,
  listUserCredentials,
  mobileConfigurations,
  updateIaca,
  updateUser,
  type Iaca,
  type MobileConfiguration,
  type PageOf,
  type UserCredential,
} from '@attestry/contracts';
import { verifyMdoc, waitUntil } from '@attestry/testing';
import {
  CredentialFlow,
  IssuanceUnderTest,
  makeWalletKey,
  refusal,
  refusalCode,
  type WalletKey,
} from '@attestry/testing/services';
import { issuanceService } from '../../index.js';
import type { CredentialIssuedData } from '../../sessions/issuance-session/issuance-session.events.js';
import { issuanceSessionStream } from '../../sessions/issuance-session/issuance-session.state.js';
import type { CredentialRecordedData } from '../../sessions/issued-credential/issued-credential.events.js';
import { issuedCredentialStream } from '../../sessions/issued-credential/issued-credential.state.js';

const { TENANT } = IssuanceUnderTest;

const service = new CredentialFlow(issuanceService);
const { admin, nonceFor, prove, collect, begin: start } = service;
const eventually = (condition: () => boolean | Promise<boolean>) => waitUntil(condition, { intervalMs: 1 });

beforeAll(() => service.open());
afterAll(() => service.remove());

describe('a credential that a document signer signs', () => {
  const NAMESPACE = 'org.example.1';
  const docType = 'org.example.licence';
  let mdoc: string;
  let iaca: Iaca;
  const request = (type: string, more: object = {}) => ({
    type,
    claimMappings: {
      [NAMESPACE]: {
        given_name: { mapFrom: 'claims.given_name', required: true },
        points: { defaultValue: 3, type: 'number' },
      },
    },
    expiresIn: { days: 30 },
    ...more,
  });
  const configureMdoc = async (type: string, more: object = {}) =>
    ((await admin(mobileConfigurations.create, { body: request(type, more) })) as MobileConfiguration).id;
  const ask = async (token: string, configurationId: string, holders: WalletKey[]) => {
    const nonce = await nonceFor();
    const jwt = await Promise.all(holders.map((holder) => prove(holder, nonce)));
    return collect(token, { credential_configuration_id: configurationId, proofs: { jwt } });
  };
  beforeAll(async () => {
    mdoc = await configureMdoc(docType);
  });

  it('is denied while no IACA is active, and then issued with the same token', async () => {
    const { token } = await start(mdoc);
    const denied = async () => {
      const { code: error, message } = await refusal(ask(token, mdoc, [makeWalletKey()]));
      expect([error, message]).toEqual(['credential_request_denied', 'no IACA of the issuer is active and valid']);
    };
    await denied();
    iaca = (await admin(createIaca, { body: { country: 'AU' } })) as Iaca;
    await denied();
    await admin(updateIaca, { params: { id: iaca.id }, body: { active: true } });
    const holder = makeWalletKey();
    const { credentials } = await ask(token, mdoc, [holder]);
    const deviceKey = holder.privateKey.export({ format: 'jwk' }) as JWK;
    const credential = credentials[0]!.credential as string;
    expect(await verifyMdoc({ credential, docType, deviceKey, iacas: [iaca.certificatePem] })).toEqual({
      [NAMESPACE]: { given_name: 'Ada', points: 3 },
    });
  });

  it('is a batch of copies, of which digests are stored, listed and returned, and no value', async () => {
    const { made, token } = await start(mdoc, { claims: { given_name: 'Canary' } });
    const holders = [makeWalletKey(), makeWalletKey()];
    const { credentials } = await ask(token, mdoc, holders);
    expect(new Set(credentials.map(({ credential }) => credential)).size).toBe(2);
    const stored = (await service.engines.events.readStream(issuanceSessionStream(TENANT, made.id))).filter(
      ({ type }) => type === 'CredentialIssued',
    );
    const issuedHere = stored.map(({ data }) => data as CredentialIssuedData);
    const digests = issuedHere.map((data) => data.digests!);
    expect(digests.map(({ namespaces }) => Object.keys(namespaces[NAMESPACE]!))).toEqual([
      ['given_name', 'points'],
      ['given_name', 'points'],
    ]);
    expect(new Set(digests.map(({ msoHash }) => msoHash)).size).toBe(2);
    const [{ credentialId }] = issuedHere as [CredentialIssuedData];
    const own = await service.engines.events.readStream(issuedCredentialStream(TENANT, credentialId));
    expect((own[0]!.data as CredentialRecordedData).signerCertificate).toMatch(/^[0-9a-f]{64}$/);
    expect(JSON.stringify([stored, own])).not.toContain('Canary');
    const list = async () =>
      ((await admin(listUserCredentials, { params: { userId: made.userId } })) as PageOf<UserCredential>).data;
    await eventually(async () => (await list()).length === 2);
    const listed = (await list()).find(({ id }) => id === credentialId)!;
    expect(listed).toMatchObject({ profile: 'mobile', format: 'mso_mdoc', ...digests[0] });
  });

  it('is refused to keys that are not on P-256, also one among several', async () => {
    const { token } = await start(mdoc);
    expect(await refusalCode(ask(token, mdoc, [makeWalletKey(), makeWalletKey('Ed25519')]))).toBe('invalid_proof');
    expect((await ask(token, mdoc, [makeWalletKey()])).credentials).toHaveLength(1);
  });

  it('is denied where its claims or times are impossible, without a value in the answer', async () => {
    const dated = await configureMdoc('org.example.dated', {
      claimMappings: { [NAMESPACE]: { born: { mapFrom: 'claims.born', type: 'date' } } },
      validUntil: { mapFrom: 'claims.until' },
    });
    const denied = async (claims: Record<string, unknown>) => {
      const { id: userId } = (await admin(createUser, { body: { claims: { born: '1990-12-10' } } })) as { id: string };
      const { token } = await start(dated, { claims: {}, userId });
      await admin(updateUser, { params: { id: userId }, body: { claims } });
      const { code: error, message } = await refusal(ask(token, dated, [makeWalletKey()]));
      expect(error).toBe('credential_request_denied');
      return message;
    };
    expect(await denied({ born: 'canary' })).toBe(
      'org.example.1 born must be a date such as 2026-01-31, not another string',
    );
    expect(await denied({ born: '1990-12-10', until: 'canary' })).toBe(
      'validUntil must have a date such as 2026-01-31, or a date and time with offset such as 2026-01-31T12:00:00Z',
    );
    expect(await denied({ born: '1990-12-10', until: '9999-12-31' })).toBe(
      'validUntil must be at most 3620 days after validFrom',
    );
    const offered = { credentials: [dated], claims: { born: '1990-12-10', until: '9999-12-31' } };
    expect((await refusal(admin(createPreAuthorizedOffer, { body: offered }))).details).toEqual([
      {
        msg: `must fit credential configuration ${dated}: validUntil must be at most 3620 days after validFrom`,
        param: 'claims',
        location: 'body',
      },
    ]);
  });

  it('is configured once for a type, which cannot change', async () => {
    expect((await refusal(admin(mobileConfigurations.create, { body: request(docType) }))).details).toMatchObject([
      { param: 'type', msg: 'is used by another credential configuration' },
    ]);
    const change = { params: { id: mdoc }, body: request('org.example.other') };
    expect((await refusal(admin(mobileConfigurations.update, change))).details).toMatchObject([
      { param: 'type', msg: 'must not change' },
    ]);
    const branding = { name: 'Licence', issuerLogo: 'https://acme.example/logo.png' };
    const updated = await admin(mobileConfigurations.update, {
      params: { id: mdoc },
      body: request(docType, { branding }),
    });
    expect(updated).toEqual({ id: mdoc, ...request(docType, { branding }), includeStatus: false });
    expect(await admin(mobileConfigurations.retrieve, { params: { id: mdoc } })).toEqual(updated);
  });
});
