import { invalid, type DidRecord, type ListedDid } from '@attestry/contracts';
import type { DidKey } from './did.events.js';
import type { ActiveDid } from './did.state.js';
import { isDid } from './did-web.js';

interface Described {
  did: string;
  keys: readonly DidKey[];
  registered: number;
  document: Record<string, unknown>;
}

/** The DID as lists show it. */
export const listedDid = ({ did, keys, registered, document }: Described): ListedDid => ({
  did,
  localMetadata: {
    keys: keys.map(({ didDocumentKeyId, kmsKeyId }) => ({ didDocumentKeyId, kmsKeyId })),
    registered,
    initialDidDocument: document,
  },
});

export const didRecord = (state: ActiveDid): DidRecord => {
  const { did, localMetadata } = listedDid(state);
  return { did, registrationStatus: state.registrationStatus, localMetadata };
};

/** The DID in a path, which the gateway has decoded once. @throws AppError 400 */
export const didOfPath = (id: string): string => {
  if (!isDid(id)) throw invalid({ value: id.slice(0, 200), msg: 'must be a DID', param: 'id', location: 'params' });
  return id;
};
