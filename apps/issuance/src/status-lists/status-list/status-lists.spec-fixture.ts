// Common to the specs of status lists: the service, its series and lists, and credentials that refer to them.
import { gunzipSync, inflateSync } from 'node:zlib';
import {
  compactRevocationLists,
  compactSemanticRevocationLists,
  customDomainVerified,
  customDomainWithdrawn,
  releaseIssuerKey,
  reserveIssuerKey,
  retrieveBrand,
  retrieveListCredential,
  retrieveStatusListToken,
  sdJwtConfigurations,
  type Caller,
  type CredentialFormat,
  type CredentialStatus,
  type HttpAnswer,
  type Operation,
} from '@attestry/contracts';
import { StaleEpoch, Streams, type EventStore } from '@attestry/event-store';
import { serviceContext } from '@attestry/service-kit';
import { waitUntil } from '@attestry/testing';
import { ServiceUnderTest } from '@attestry/testing/services';
import { decode, type Tag } from 'cbor2';
import { issuanceService } from '../../index.js';
import { changeStatus, recordCredential } from '../../sessions/issued-credential/issued-credential.decisions.js';
import type { CredentialRecordedData, StatusEntry } from '../../sessions/issued-credential/issued-credential.events.js';
import { issuedCredential, issuedCredentialStream } from '../../sessions/issued-credential/issued-credential.state.js';
import { firstListId } from './first-list-id.js';
import { listSeries, seriesName, type ListSeries } from './list-series.js';
import { PublishStatusLists } from './publish-status-lists.worker.js';
import { PublishedListsReadModel } from './published-lists.read-model.js';
import { shardOf } from './shard-of.js';
import { StatusIndexes } from './status-indexes.js';
import { StatusListsReadModel } from './status-lists.read-model.js';

export const DID = 'did:web:acme.example';
/** DID and key that dids reserves. */
export const reserved = { did: DID, keyId: '' };

let ids = 0;
export const newId = () => `5${String(++ids).padStart(7, '0')}-0000-4000-8000-000000000000`;
export const urlOf = (tenantId: string) => `http://${tenantId.slice(0, 8)}.localhost:8080`;
export const service = new ServiceUnderTest(issuanceService, { baseOf: urlOf });
service.answer(reserveIssuerKey, () => ({
  did: reserved.did,
  verificationMethod: `${reserved.did}#k`,
  kmsKeyId: reserved.keyId,
  algorithm: 'Ed25519' as const,
}));
service.answer(retrieveBrand, () => ({}));
service.answer(releaseIssuerKey, () => undefined);

export const tenantOf = (tenantId: string) => service.asClient(tenantId).tenant;
export const call = (operation: Operation, tenantId: string, caller: Caller, request: object): Promise<unknown> =>
  service.admin(operation, request, tenantId, { caller });

export const admin: Caller = { kind: 'client', clientId: 'c' };
export const body = (more: object = {}) => ({
  type: 'Course',
  name: 'Course',
  issuer: { name: 'Acme' },
  claimMappings: { given_name: { mapFrom: 'claims.given_name' } },
  revocable: true,
  ...more,
});

export const configure = (tenantId: string, more: object = {}) =>
  call(sdJwtConfigurations.create, tenantId, admin, { body: body(more) }) as Promise<{ id: string }>;

type ListRetrieval =
  | typeof retrieveStatusListToken
  | typeof retrieveListCredential
  | (typeof compactRevocationLists | typeof compactSemanticRevocationLists)['retrieve'];

export const fetchToken = async (
  tenantId: string,
  listId: string,
  headers: Record<string, string> = {},
  operation: ListRetrieval = retrieveStatusListToken,
) => {
  const raw = { method: 'GET', url: '/', headers, text: '' };
  const request = { params: { id: listId }, raw };
  return ((await call(operation, tenantId, { kind: 'public' }, request)) as HttpAnswer).$http as {
    status?: number;
    headers: Record<string, string>;
    body: string;
    base64?: string;
  };
};

/** Waits for the projection and the next run of the publisher. */
export const publishedInTime = async (
  tenantId: string,
  listId: string,
  when: (token: string) => boolean = () => true,
  beforehand?: () => Promise<unknown>,
) => {
  let token = '';
  const isPublished = async () => {
    await beforehand?.();
    token = (await fetchToken(tenantId, listId)).body;
    return when(token);
  };
  await waitUntil(isPublished, { what: 'the token of the list' });
  return token;
};

/** The same, without the pause before the run. */
export const published = (tenantId: string, listId: string, when?: (token: string) => boolean) =>
  publishedInTime(tenantId, listId, when, () => publishNow(listId));

export const claimsOfCwt = (base64: string) => {
  const { contents } = decode<Tag>(Buffer.from(base64, 'base64'), { ignoreGlobalTags: true });
  return decode<Map<number, unknown>>((contents as Uint8Array[])[2]!, { preferMap: true });
};

/** The bytes of a status list with 1 bit for each credential, and of its revocation list. */
export const cwtLists = (token: string, revocationList: string): [Buffer, Buffer] => {
  const { lst, bits } = Object.fromEntries(claimsOfCwt(token).get(65533) as Map<string, unknown>);
  expect(bits).toBe(1);
  return [inflateSync(lst as Uint8Array), gunzipSync(claimsOfCwt(revocationList).get(-65538) as Uint8Array)];
};

export const cwtStatuses = (token: string, revocationList: string, index: number): [number, number] => {
  const [statuses, bitstring] = cwtLists(token, revocationList);
  return [(statuses[index >> 3]! >> (index & 7)) & 1, (bitstring[index >> 3]! >> (7 - (index & 7))) & 1];
};

export const seriesOf = (tenantId: string, size = 131_072): ListSeries =>
  listSeries({ kind: 'tokenStatusList', tokenType: 'jwt', size }, { kind: 'issuerSigner', issuer: urlOf(tenantId) });

export const firstList = (tenantId: string) => firstListId(tenantId, seriesName(seriesOf(tenantId)));
export const lists = () => service.get(StatusListsReadModel);
export const tokens = () => service.get(PublishedListsReadModel);
export const publisher = () => service.get(PublishStatusLists);
export const event = (tenantId: string) => serviceContext('issuance.spec', tenantId);
/** The holder of the shard's lease does this each second; it may be doing so. */
const publishNow = (listId: string): Promise<unknown> =>
  publisher()
    .publishShard(shardOf(listId), { isHeld: true })
    .catch((error: unknown) => {
      if (!(error instanceof StaleEpoch)) throw error;
    });

/** Another process: it shares the stores alone. */
export const replica = (events: EventStore = service.engines.events) =>
  new StatusIndexes(
    new Streams(events, service.engines.clock, service.engines.ids),
    service.engines.vault.sealing,
    lists(),
    tokens(),
    service.engines.clock,
    service.engines.ids,
    service.engines.logger,
  );

export const record = async (
  tenantId: string,
  { listId, index }: StatusEntry,
  { format = 'dc+sd-jwt', validUntil }: { format?: CredentialFormat; validUntil?: Date } = {},
): Promise<string> => {
  const credentialId = newId();
  const facts = {
    ...{ credentialId, userId: newId(), credentialConfigurationId: newId(), format },
    status: { listId, index },
    ...(validUntil && { validUntil: validUntil.toISOString() }),
  };
  const data = facts as unknown as CredentialRecordedData;
  const stream = issuedCredentialStream(tenantId, credentialId);
  await service.engines.streams.runDecision(
    issuedCredential,
    stream,
    (state) => recordCredential(state, data),
    event(tenantId),
  );
  return credentialId;
};

/** A credential, so that the list is signed again. */
export const useList = async (tenantId: string, series: ListSeries = seriesOf(tenantId), validUntil?: Date) => {
  const [status] = await replica().allocate(tenantOf(tenantId), series, 1);
  await record(tenantId, status!, validUntil && { validUntil });
  await waitUntil(async () => (await lists().find({ tenantId, listId: status!.listId }))?.isUnused === false, {
    what: 'the first credential',
  });
};

export const change = (
  tenantId: string,
  credentialId: string,
  status: CredentialStatus,
  format: CredentialFormat = 'dc+sd-jwt',
) =>
  service.engines.streams.runDecision(
    issuedCredential,
    issuedCredentialStream(tenantId, credentialId),
    (state) => changeStatus(state, { format, status, isReversible: true }, service.engines.clock.now()),
    event(tenantId),
  );

let revision = 0;
export const domainChanged = (tenantId: string, domain: string, isVerified: boolean) =>
  service.engines.bus.publish([
    {
      id: `domain-${++revision}`,
      subject: (isVerified ? customDomainVerified : customDomainWithdrawn).subject,
      headers: { tenantId, requestId: 'domain', occurredAt: new Date().toISOString() },
      data: { tenantId, domain, revision },
    },
  ]);

/** For each spec file. */
export const startService = (): void => {
  beforeAll(() => service.open());
  beforeEach(() => {
    service.ahead = 0;
    reserved.did = DID;
  });
  afterAll(() => service.remove());
};
