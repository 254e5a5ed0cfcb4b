import type { NatsConnection } from '@nats-io/transport-node';
import { RequestFailed, type Subject } from '../message-bus.js';

/** How long calls wait for a lost connection, so that the client can find another server of a cluster. */
const GRACE_MS = 500;

/** Whether a server is connected. While none is, calls fail after a short time, not at their deadlines. */
export class NatsLink {
  /** Resolves with the next connection; absent while there is one. */
  private lost: PromiseWithResolvers<void> | undefined;
  private isUnreachable = false;
  private timer: NodeJS.Timeout | undefined;
  /** End calls in progress. */
  private readonly waiting = new Set<() => void>();

  constructor(connection: Pick<NatsConnection, 'status'>) {
    void this.watch(connection);
  }

  /** Waits until a server is connected: nothing is sent before. @throws RequestFailed when there is none in time */
  async connected(subject: Subject): Promise<void> {
    while (this.lost) await this.during(subject, this.lost.promise);
  }

  /** @throws RequestFailed when the connection is lost and not restored in time; the work continues */
  during<T>(subject: Subject, work: Promise<T>): Promise<T> {
    const { promise, resolve, reject } = Promise.withResolvers<T>();
    const fail = () => reject(new RequestFailed('disconnected', subject));
    if (this.isUnreachable) fail();
    else this.waiting.add(fail);
    const settle = () => this.waiting.delete(fail);
    work.then(
      (value) => {
        settle();
        resolve(value);
      },
      (error: unknown) => {
        settle();
        reject(error);
      },
    );
    return promise;
  }

  private async watch(connection: Pick<NatsConnection, 'status'>): Promise<void> {
    for await (const { type } of connection.status())
      if (type === 'disconnect') this.lose();
      else if (type === 'reconnect') this.restore();
    // Closed: calls fail with the connection.
    this.restore();
  }

  private lose(): void {
    if (this.lost) return;
    this.lost = Promise.withResolvers<void>();
    this.timer = setTimeout(() => {
      this.isUnreachable = true;
      for (const fail of this.waiting) fail();
      this.waiting.clear();
    }, GRACE_MS).unref();
  }

  private restore(): void {
    clearTimeout(this.timer);
    this.isUnreachable = false;
    this.lost?.resolve();
    this.lost = undefined;
  }
}
