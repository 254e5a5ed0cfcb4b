import { createHash } from 'node:crypto';
import type { Snapshot, Snapshots, StreamName } from '@attestry/event-store';
import type { Macs, SecretMac } from '@attestry/keys';

/** Bytes of the length that the MAC's JSON is preceded by. */
const LENGTH = 2;

/**
 * Snapshots with a MAC before each state. Events cannot be forged without a trace in the history; a snapshot that was written directly to
 * the database must not circumvent that (ADR 0055).
 */
export class AuthenticSnapshots implements Snapshots {
  constructor(
    private readonly inner: Snapshots,
    private readonly macs: Macs,
  ) {}

  /** `undefined` also for a snapshot whose MAC is invalid. */
  async read(stream: StreamName): Promise<Snapshot | undefined> {
    const stored = await this.inner.read(stream);
    const parts = stored && partsOf(stored.state);
    if (!parts) return undefined;
    const snapshot = { ...stored!, state: parts.state };
    return this.macs.verifyMac(digestOf(parts.state), parts.mac, contextOf(stream, snapshot)) ? snapshot : undefined;
  }

  async write(stream: StreamName, snapshot: Snapshot): Promise<void> {
    const mac = this.macs.mac(digestOf(snapshot.state), contextOf(stream, snapshot));
    const head = Buffer.from(JSON.stringify(mac));
    const length = Buffer.alloc(LENGTH);
    length.writeUInt16BE(head.length);
    await this.inner.write(stream, { ...snapshot, state: Buffer.concat([length, head, snapshot.state]) });
  }
}

const digestOf = (state: Uint8Array): string => createHash('sha256').update(state).digest('base64url');

const contextOf = (stream: StreamName, { revision, chain, stateVersion }: Snapshot): string =>
  JSON.stringify(['snapshot', stream, revision, chain, stateVersion]);

const partsOf = (stored: Uint8Array): { mac: SecretMac; state: Uint8Array } | undefined => {
  const bytes = Buffer.from(stored.buffer, stored.byteOffset, stored.byteLength);
  try {
    const end = LENGTH + bytes.readUInt16BE(0);
    const { pepper, mac } = JSON.parse(bytes.toString('utf8', LENGTH, end)) as SecretMac;
    return { mac: { pepper: String(pepper), mac: String(mac) }, state: bytes.subarray(end) };
  } catch {
    return undefined;
  }
};
