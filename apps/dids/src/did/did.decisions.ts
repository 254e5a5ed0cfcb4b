import { invalid, invalidBody, notFound, type IssuerKey, type RegistrationStatus } from '@attestry/contracts';
import { ABANDONED_AFTER_MS } from '@attestry/event-store';
import type { DidEvent, DidKey, DidMethod, KeyAlgorithm } from './did.events.js';
import type { ActiveDid, DidState } from './did.state.js';
import { hasMultikeys, multikeyIdOf, withMultikeys } from './multikeys.js';

export interface CreateDidCommand {
  did: string;
  method: DidMethod;
  keys: DidKey[];
  document: Record<string, unknown>;
  registrationStatus: RegistrationStatus;
}

/** 400 unless a DID of this name may be created: the tenant has none, or it is deleted. */
export const checkDidIsFree = (state: DidState): void => {
  if (state.status === 'active') throw invalidBody('options.url', 'is already the address of a DID of this tenant');
  if (state.status === 'deleting')
    throw invalidBody('options.url', 'is the address of a DID that is being deleted; try again in a moment');
};

export const createDid = (state: DidState, command: CreateDidCommand, now: Date): DidEvent[] => {
  checkDidIsFree(state);
  return [{ type: 'DidCreated', data: { ...command, registered: now.getTime() } }];
};

/** 404 unless the DID is active. */
export const activeDid = (state: DidState): ActiveDid => {
  if (state.status !== 'active') throw notFound();
  return state;
};

/** Result of reading a document where the DID names it. */
export interface SeenDocument {
  /** It is ours, at least without each `Multikey`. */
  isPublished: boolean;
  /** Each `Multikey` of ours is in it. */
  hasMultikeys: boolean;
}

/** Each the first time only. @throws AppError 404 when the DID is deleted */
export const seenPublished = (state: DidState, seen: SeenDocument, now: Date): DidEvent[] => {
  const { registrationStatus, areMultikeysPublished } = activeDid(state);
  const isCompleted = seen.isPublished || registrationStatus === 'COMPLETED';
  const data = { seenAt: now.toISOString() };
  return [
    ...(isCompleted && registrationStatus === 'PROCESSING' ? [{ type: 'DidPublicationSeen' as const, data }] : []),
    ...(isCompleted && seen.hasMultikeys && !areMultikeysPublished
      ? [{ type: 'DidMultikeysSeen' as const, data }]
      : []),
  ];
};

/** Whether a look-up of the published document can change the state. */
export const awaitsDocument = ({ registrationStatus, areMultikeysPublished, document }: ActiveDid): boolean =>
  registrationStatus === 'PROCESSING' || (!areMultikeysPublished && hasMultikeys(document));

/**
 * Adds a `Multikey` for each key that has none, for DIDs from before. Again it changes nothing.
 * @param isOwnHost the platform serves the document, at once
 * @throws AppError 404; 400 for a did:key
 */
export const updateDocument = (state: DidState, isOwnHost: boolean, now: Date): DidEvent[] => {
  const active = activeDid(state);
  if (active.method !== 'web')
    throw invalid({
      value: active.did,
      msg: 'must be a did:web: the document of a did:key follows from its name',
      param: 'id',
      location: 'params',
    });
  const document = withMultikeys(active.document);
  if (document === active.document) return [];
  const at = now.toISOString();
  return [
    { type: 'DidDocumentUpdated', data: { document, updatedAt: at } },
    ...(isOwnHost ? [{ type: 'DidMultikeysSeen' as const, data: { seenAt: at } }] : []),
  ];
};

/** The method that a Data Integrity proof names for the key of `verificationMethod`: its `Multikey` once that is published. */
export const proofMethodOf = (state: DidState, verificationMethod: string): string => {
  if (state.status !== 'active' || !state.areMultikeysPublished) return verificationMethod;
  const wanted = multikeyIdOf(verificationMethod);
  const asserting = state.document['assertionMethod'] as string[];
  return asserting.includes(wanted) ? wanted : verificationMethod;
};

export interface ReserveCommand {
  did: string;
  configurationId: string;
  /** Acceptable algorithms, best first. */
  algorithms: readonly KeyAlgorithm[];
  /** Member of the request that names the DID. */
  member: 'issuer' | 'issuerDid';
  /** On the tenant's verified domain: its document may follow, because the platform has it for that host. */
  isLinked: boolean;
}

/** Whether a configuration that does not hold the DID yet must wait for its document. */
export const isUnpublished = (state: DidState, configurationId: string): boolean =>
  state.status === 'active' && state.registrationStatus !== 'COMPLETED' && !state.reservations.has(configurationId);

const issuerKeyOf = (state: ActiveDid, algorithm: KeyAlgorithm): DidKey | undefined =>
  state.keys.find((key) => key.algorithm === algorithm && key.purposes.includes('assertionMethod'));

const UNPUBLISHED =
  'must have the registrationStatus COMPLETED: its initialDidDocument was not found, unchanged, where the DID names it';

/** Keeps the DID from deletion for a configuration. Idempotent per configuration. */
export const reserveIssuerKey = (state: DidState, command: ReserveCommand, now: Date): DidEvent[] => {
  const { configurationId, algorithms, member, isLinked } = command;
  if (state.status !== 'active') throw invalidBody(member, 'must be a DID of this tenant', command.did);
  const reserved = state.reservations.get(configurationId);
  if (reserved && algorithms.includes(reserved.algorithm)) return [];
  const algorithm = algorithms.find((candidate) => issuerKeyOf(state, candidate));
  if (!algorithm)
    throw invalidBody(member, `must have an assertion key of type ${algorithms.join(' or ')}`, command.did);
  // No verifier could resolve it, or the host is not the tenant's.
  if (!isLinked && isUnpublished(state, configurationId)) throw invalidBody(member, UNPUBLISHED, command.did);
  return [{ type: 'DidReserved', data: { configurationId, algorithm, reservedAt: now.toISOString() } }];
};

/** The key that {@link reserveIssuerKey} chose. */
export const reservedKey = (state: DidState, configurationId: string): IssuerKey => {
  const active = activeDid(state);
  const reservation = active.reservations.get(configurationId);
  const key = reservation && issuerKeyOf(active, reservation.algorithm);
  if (!key) throw notFound();
  const { didDocumentKeyId: verificationMethod, kmsKeyId } = key;
  return {
    ...{ did: active.did, verificationMethod, kmsKeyId, algorithm: key.algorithm as IssuerKey['algorithm'] },
    ...(active.registrationStatus !== 'COMPLETED' && { isUnpublished: true }),
  };
};

export const releaseIssuerKey = (state: DidState, configurationId: string): DidEvent[] =>
  state.status === 'active' && state.reservations.has(configurationId)
    ? [{ type: 'DidReleased', data: { configurationId } }]
    : [];

/** Configurations that hold the DID: those old enough to be checked for existence, and the newer ones. */
export const holdersOf = (state: DidState, now: Date): { settled: string[]; young: string[] } => {
  const holders = { settled: [] as string[], young: [] as string[] };
  if (state.status !== 'active') return holders;
  for (const [configurationId, { reservedAt }] of state.reservations) {
    const isSettled = now.getTime() - Date.parse(reservedAt) > ABANDONED_AFTER_MS;
    holders[isSettled ? 'settled' : 'young'].push(configurationId);
  }
  return holders;
};

/**
 * The point of no return. `abandoned` are configurations known not to exist; any other that holds the DID prevents its deletion. An
 * unfinished deletion is resumed.
 */
export const startDeletion = (
  state: DidState,
  { abandoned }: { abandoned: ReadonlySet<string> },
  now: Date,
): DidEvent[] => {
  if (state.status === 'deleting') return [];
  const active = activeDid(state);
  const held = [...active.reservations.keys()].filter((id) => !abandoned.has(id));
  if (held.length > 0)
    throw invalid({
      value: active.did,
      msg: `the DID is the issuer of ${held.length === 1 ? 'a credential configuration' : `${held.length} credential configurations`}, which must be deleted first`,
      param: 'id',
      location: 'params',
    });
  return [
    ...[...active.reservations.keys()].map((configurationId): DidEvent => ({
      type: 'DidReleased',
      data: { configurationId },
    })),
    { type: 'DidDeletionStarted', data: { did: active.did, startedAt: now.toISOString() } },
  ];
};

/** After the keys are destroyed. */
export const finishDeletion = (state: DidState, now: Date): DidEvent[] =>
  state.status === 'deleting' ? [{ type: 'DidDeleted', data: { did: state.did, deletedAt: now.toISOString() } }] : [];
