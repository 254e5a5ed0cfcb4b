import { readFile } from 'node:fs/promises';
import type { Socket } from 'node:net';
import ipaddr from 'ipaddr.js';

/** Where Linux lists its TCP connections: `tx_queue` are the bytes of a connection that its peer has not acknowledged. */
const FILES = ['/proc/net/tcp', '/proc/net/tcp6'];

/** `  12: 0100007F:1F90 0100007F:C350 01 00001000:00000000 …`: number, local and remote address, state, `tx_queue`, in hex. */
const LINE = /^ *\d+: [0-9A-F]+:([0-9A-F]{4}) ([0-9A-F]+:[0-9A-F]{4}) [0-9A-F]{2} ([0-9A-F]{8}):/gm;

/** An address as the kernel lists it: words of four bytes, each in the order of the machine, which is little-endian. */
const hexOf = (bytes: readonly number[]): string => {
  let text = '';
  for (let word = 0; word < bytes.length; word += 4)
    text += Buffer.from(bytes.slice(word, word + 4).reverse()).toString('hex');
  return text.toUpperCase();
};

const hexPort = (port: number): string => port.toString(16).toUpperCase().padStart(4, '0');

/** Names the connection in {@link SendQueues}; undefined once it is closed. */
export const sendQueueOf = ({ localPort, remoteAddress, remotePort }: Socket): string | undefined => {
  if (localPort === undefined || remotePort === undefined || !remoteAddress || !ipaddr.isValid(remoteAddress))
    return undefined;
  return `${hexPort(localPort)} ${hexOf(ipaddr.parse(remoteAddress).toByteArray())}:${hexPort(remotePort)}`;
};

/**
 * Bytes that the kernel has taken and the client has not acknowledged, by connection. A kernel buffers up to 4 MB of an answer and takes more
 * only when a third of its buffer is free, so that a slow reader shows no progress for minutes without these. Empty where the system has no
 * such list.
 */
export class SendQueues {
  private constructor(private readonly queued: ReadonlyMap<string, number>) {}

  static async read(): Promise<SendQueues> {
    return new SendQueues(parse(await Promise.all(FILES.map((file) => readFile(file, 'latin1').catch(() => '')))));
  }

  /** 0 for a connection that the list does not have. */
  of(key: string | undefined): number {
    return (key !== undefined && this.queued.get(key)) || 0;
  }
}

const parse = (texts: readonly string[]): Map<string, number> => {
  const queued = new Map<string, number>();
  for (const text of texts)
    for (const [, localPort, remote, bytes] of text.matchAll(LINE)) {
      const length = parseInt(bytes!, 16);
      if (length > 0) queued.set(`${localPort} ${remote}`, length);
    }
  return queued;
};
