import { expectStatus, hostFetch, waitUntil } from '@attestry/testing';
import { malformedId, pageRow, type Row } from './row.js';
import { issuedCredential, NO_SUCH, Revocable, revocableCredential } from './things.js';

const registryRows = (profile: 'web-semantic', thing: 'webSemanticCredential'): Record<string, Row> => {
  const one: Pick<Row, 'wrong' | 'refusal' | 'foreign'> = {
    wrong: () => ({ params: { id: 'no-uuid' } }),
    refusal: { status: 400, param: 'id', location: 'params' },
    foreign: ({ foreign }) => ({ params: { id: foreign[thing] } }),
  };
  return {
    [`issuance.list-issued-credentials.${profile}`]: pageRow,
    [`issuance.retrieve-issued-credential.${profile}`]: {
      right: ({ own }) => ({ params: { id: own[thing] } }),
      ...one,
    },
    [`issuance.delete-issued-credential.${profile}`]: {
      right: async (world) => ({ params: { id: await issuedCredential(world) } }),
      ...one,
    },
  };
};

const statusRows = (profile: 'jwt-vc' | 'sd-jwt' | 'mobile', thing: Revocable): Record<string, Row> => ({
  [`issuance.set-credential-status.${profile}`]: {
    right: async (world) => ({ ...(await revocableCredential(world, thing)), body: { status: 'suspended' } }),
    wrong: () => ({ params: { id: NO_SUCH }, body: { status: 'revoked' } }),
    refusal: { status: 400, param: 'status', location: 'body' },
    foreign: ({ foreign }) => ({ params: { id: foreign[`${thing}Credential`] }, body: { status: 'invalid' } }),
  },
  [`issuance.retrieve-credential-status.${profile}`]: {
    right: (world) => revocableCredential(world, thing),
    wrong: () => ({ params: { id: 'no-uuid' } }),
    refusal: { status: 400, param: 'id', location: 'params' },
    foreign: ({ foreign }) => ({ params: { id: foreign[`${thing}Credential`] } }),
  },
});

const revocationRows = (
  profile: 'compact' | 'compact-semantic' | 'web-semantic',
  thing: 'compact' | 'compactSemantic' | 'webSemantic',
): Record<string, Row> => ({
  [`issuance.set-revocation-status.${profile}`]: {
    right: async (world) => ({ ...(await revocableCredential(world, thing)), body: { isRevoked: true } }),
    wrong: () => ({ params: { id: NO_SUCH }, body: { isRevoked: 'yes' } }),
    refusal: { status: 400, param: 'isRevoked', location: 'body' },
    foreign: ({ foreign }) => ({ params: { id: foreign[`${thing}Credential`] }, body: { isRevoked: true } }),
  },
  [`issuance.retrieve-revocation-status.${profile}`]: {
    right: (world) => revocableCredential(world, thing),
    wrong: () => ({ params: { id: 'no-uuid' } }),
    refusal: { status: 400, param: 'id', location: 'params' },
    foreign: ({ foreign }) => ({ params: { id: foreign[`${thing}Credential`] } }),
  },
});

const notificationRow: Row = {
  right: async (world) => {
    const { api } = world.tenant;
    const { params } = await revocableCredential(world, 'webSemantic');
    expect((await api.webSemantic.setRevocationStatus(params.id, { isRevoked: true })).status).toBe(200);
    const { did } = expectStatus(await api.dids.create({ method: 'key', options: { keyType: 'Ed25519' } }), 201);
    return { params, body: { from: did, to: ['did:web:holder.example'] } };
  },
  wrong: () => ({ params: { id: NO_SUCH }, body: { from: 'did:web:university.example', to: [] } }),
  refusal: { status: 400, param: 'to', location: 'body' },
  foreign: ({ foreign }) => ({
    params: { id: foreign.webSemanticCredential },
    body: { from: 'did:web:university.example', to: ['did:web:holder.example'] },
  }),
};

/** Rows that only CWTs have. */
const compactRows = (
  profile: 'compact' | 'compact-semantic',
  thing: 'compact' | 'compactSemantic',
): Record<string, Row> => ({
  ...revocationRows(profile, thing),
  [`issuance.delete-issued-credential.${profile}`]: {
    right: (world) => revocableCredential(world, thing),
    wrong: () => ({ params: { id: 'no-uuid' } }),
    refusal: { status: 400, param: 'id', location: 'params' },
    foreign: ({ foreign }) => ({ params: { id: foreign[`${thing}Credential`] } }),
  },
  [`issuance.list-revocation-lists.${profile}`]: pageRow,
  [`issuance.retrieve-revocation-list.${profile}`]: {
    right: async (world) => {
      await revocableCredential(world, thing);
      const [list] = expectStatus(await world.tenant.api[thing].revocationLists(), 200).data;
      await waitUntil(async () => (await hostFetch(list!.url)).ok, { what: 'a revocation list' });
      return { params: { id: list!.id } };
    },
    wrong: () => ({ params: { id: 'no-uuid' } }),
    refusal: { status: 400, param: 'id', location: 'params' },
  },
});

export const credentialsRows: Record<string, Row> = {
  ...registryRows('web-semantic', 'webSemanticCredential'),
  'issuance.create-revocation-notification': notificationRow,
  'issuance.list-credentials': pageRow,
  'issuance.report-credentials': {
    right: () => {
      const day = (later: number) => new Date(Date.now() + later * 86_400_000).toISOString().slice(0, 10);
      return { body: { timezoneOffset: '+02:00', startDate: day(-1), endDate: day(1), profiles: ['mdoc', 'cwt'] } };
    },
    wrong: () => ({ body: { startDate: '2025-01-01', endDate: '2026-12-31' } }),
    refusal: { status: 400, param: 'endDate', location: 'body' },
  },
  ...statusRows('jwt-vc', 'jwtVc'),
  ...statusRows('sd-jwt', 'sdJwt'),
  ...compactRows('compact', 'compact'),
  ...compactRows('compact-semantic', 'compactSemantic'),
  ...revocationRows('web-semantic', 'webSemantic'),
  ...statusRows('mobile', 'mobile'),
  'issuance.delete-issued-credential.mobile': {
    right: (world) => revocableCredential(world, 'mobile'),
    ...malformedId,
    foreign: ({ foreign }) => ({ params: { id: foreign.mobileCredential } }),
  },
};
