import { DAY_MS } from './certificate-period.decisions.js';
import type { MobileCertificatesEvent } from './mobile-certificates.events.js';
import type { IacaState, MobileCertificatesState, SignerState } from './mobile-certificates.state.js';

/** IACAs and signers whose private key is in the vault. */
export const keysOf = ({ iacas, signers }: MobileCertificatesState) =>
  [...iacas, ...signers].filter(
    (one): one is (IacaState & { keyId: string }) | SignerState => one.keyId !== undefined && !one.isKeyDestroyed,
  );

/** None where there are no keys. */
export const destroyKeys = (keys: readonly { keyId: string }[]): MobileCertificatesEvent[] =>
  keys.length ? [{ type: 'CertificateKeysDestroyed', data: { destroyedKeys: keys.map(({ keyId }) => keyId) } }] : [];

/** Keys that are destroyed with the events. */
export const keysDestroyedBy = (events: readonly MobileCertificatesEvent[]): string[] =>
  events.flatMap((event) => (event.type === 'CertificateKeysDestroyed' ? event.data.destroyedKeys : []));

/** A day after the last signature: a process may sign with a key for the time of a request, and by a clock that is behind. */
export const endedKeyDueAt = (lastUse: string): Date => new Date(Date.parse(lastUse) + DAY_MS);

/** Keys of IACAs that have ended, and of signers that sign no more. */
export const destroyEndedKeys = (state: MobileCertificatesState, now: Date): MobileCertificatesEvent[] =>
  destroyKeys(
    keysOf(state).filter((one) => {
      const lastUse = 'signsUntil' in one ? one.signsUntil : one.data?.notAfter;
      return lastUse !== undefined && now >= endedKeyDueAt(lastUse);
    }),
  );
