import { expectStatus, hostFetch, mdocIdentifier, waitUntil } from '@attestry/testing';
import { decodeJwt } from 'jose';
import type { World } from './world.js';
import { malformedId, pageRow, publicDocument, type Row } from './row.js';
import { DURATIONS, jwtVcRequest, listsRequest, mobileRequest, wallet, webSemanticRequest } from './things.js';

/** Id of a status list whose token can be retrieved. */
const publishedList = async ({ tenant: { api } }: World): Promise<string> => {
  const { id } = expectStatus(await api.jwtVc.create({ ...jwtVcRequest(), revocable: true }), 201);
  const { credentials } = await wallet.collect(
    expectStatus(await api.offers.create({ credentials: [id], claims: { given_name: 'Ada' } }), 200).uri,
  );
  const { status } = decodeJwt<{ status: { status_list: { uri: string } } }>(credentials[0]!.credential as string);
  const { uri } = status.status_list;
  await waitUntil(async () => (await hostFetch(uri)).ok, { what: 'the token of a status list' });
  return uri.split('/').at(-2)!;
};

/** Id of a published list of JSON credentials. */
const publishedCredentialList = async ({ tenant: { api } }: World): Promise<string> => {
  const { id } = expectStatus(await api.webSemantic.create({ ...webSemanticRequest(), revocable: true }), 201);
  const { credentials } = await wallet.collect(
    expectStatus(await api.offers.create({ credentials: [id], claims: { given_name: 'Ada' } }), 200).uri,
  );
  const { credentialStatus } = credentials[0]!.credential as { credentialStatus: { statusListCredential: string } };
  const uri = credentialStatus.statusListCredential;
  await waitUntil(async () => (await hostFetch(uri)).ok, { what: 'a list of credentials' });
  return uri.split('/').at(-1)!;
};

export const statusListsRows: Record<string, Row> = {
  'issuance.create-status-list-configuration': {
    right: () => ({ body: listsRequest() }),
    wrong: () => ({ body: { ...listsRequest(), expiryDuration: { hours: 1 } } }),
    refusal: { status: 400, param: 'expiryDuration', location: 'body' },
  },
  'issuance.list-status-list-configurations': pageRow,
  'issuance.retrieve-status-list-configuration': {
    right: ({ own }) => ({ params: { id: own.statusListConfiguration } }),
    ...malformedId,
    foreign: ({ foreign }) => ({ params: { id: foreign.statusListConfiguration } }),
  },
  'issuance.update-status-list-configuration': {
    right: ({ own }) => ({ params: { id: own.statusListConfiguration }, body: DURATIONS }),
    wrong: ({ own }) => ({
      params: { id: own.statusListConfiguration },
      body: { ...DURATIONS, expiryDuration: 'PT1H' },
    }),
    refusal: { status: 400, param: 'expiryDuration', location: 'body' },
    foreign: ({ foreign }) => ({ params: { id: foreign.statusListConfiguration }, body: DURATIONS }),
  },
  'issuance.delete-status-list-configuration': {
    right: async ({ tenant: { api } }) => ({
      params: { id: expectStatus(await api.statusLists.configure(listsRequest()), 201).id },
    }),
    ...malformedId,
    foreign: ({ foreign }) => ({ params: { id: foreign.statusListConfiguration } }),
  },
  'issuance.list-mobile-status-lists': pageRow,
  'issuance.retrieve-mobile-status-list': {
    right: ({ own }) => ({ params: { id: own.statusList } }),
    ...malformedId,
    foreign: ({ foreign }) => ({ params: { id: foreign.statusList } }),
  },
  'issuance.retrieve-status-list-token.mobile': {
    right: ({ own }) => ({ params: { id: own.statusList } }),
    ...malformedId,
  },
  'issuance.retrieve-status-list-token.identifier-list': {
    right: async ({ tenant: { api } }) => {
      const configured = { ...mobileRequest(), includeStatus: true, statusMechanism: 'identifier_list' };
      const { id } = expectStatus(await api.mobile.create(configured as never), 201);
      const claims = { given_name: 'Ada' };
      const offered = expectStatus(await api.offers.create({ credentials: [id], claims }), 200);
      const { credentials } = await wallet.collect(offered.uri);
      const { uri } = (await mdocIdentifier(credentials[0]!.credential as string))!;
      await waitUntil(async () => (await hostFetch(uri)).ok, { what: 'the token of an identifier list' });
      return { params: { id: uri.split('/').at(-2)! } };
    },
    ...malformedId,
  },
  'issuance.retrieve-status-list-aggregation': publicDocument,
  'issuance.retrieve-status-list-distribution': publicDocument,
  'issuance.retrieve-status-list-token': {
    right: async (world) => ({ params: { id: await publishedList(world) } }),
    wrong: () => ({ params: { id: 'no-uuid' } }),
    refusal: { status: 400, param: 'id', location: 'params' },
  },
  'issuance.retrieve-status-list-token.web-semantic': {
    right: async (world) => ({ params: { id: await publishedCredentialList(world) } }),
    wrong: () => ({ params: { id: 'no-uuid' } }),
    refusal: { status: 400, param: 'id', location: 'params' },
  },
};
