import { BaseRpcContext, Server, type CustomTransportStrategy, type MessageHandler } from '@nestjs/microservices';
import { lastValueFrom } from 'rxjs';
import type { Headers, MessageBus, Reply, Serving, Subject } from './message-bus.js';

/** Argument of a handler beside the data. */
export class BusContext extends BaseRpcContext<[subject: Subject, headers: Headers, from: string]> {
  getSubject(): Subject {
    return this.args[0];
  }

  getHeaders(): Headers {
    return this.args[1];
  }

  /** Participant that sent the request. */
  getFrom(): string {
    return this.args[2];
  }
}

/**
 * The Nest transport over any {@link MessageBus}: serves each handler on its pattern, which is a subject. A handler
 * returns a Reply, as a value, a promise or an observable (whose last value counts). The bus stays open on `close`.
 */
export class BusTransport extends Server implements CustomTransportStrategy {
  private readonly servings: Serving[] = [];

  constructor(private readonly bus: MessageBus) {
    super();
  }

  /** @throws Error when a subject has a handler already, or the handler is for events: those come from `consume`. */
  override addHandler(
    pattern: unknown,
    callback: MessageHandler,
    isEventHandler = false,
    extras: Record<string, unknown> = {},
  ): void {
    if (typeof pattern !== 'string') throw new Error(`a pattern must be a subject, not ${JSON.stringify(pattern)}`);
    if (isEventHandler) throw new Error(`${pattern}: events are consumed with MessageBus.consume`);
    if (this.messageHandlers.has(pattern)) throw new Error(`${pattern} has two handlers`);
    super.addHandler(pattern, callback, false, extras);
  }

  listen(callback: () => void): void {
    for (const [subject, handler] of this.messageHandlers)
      this.servings.push(
        this.bus.serve(subject, (data, headers, from) =>
          this.handle(handler, data, new BusContext([subject, headers, from])),
        ),
      );
    callback();
  }

  /** Accepts no further requests and waits for those in flight. */
  async close(): Promise<void> {
    await Promise.all(this.servings.splice(0).map((serving) => serving.close()));
  }

  /** A bus has no connection events. */
  on(event: string): never {
    throw new Error(`this transport has no event ${event}`);
  }

  unwrap<T>(): T {
    return this.bus as T;
  }

  private async handle(handler: MessageHandler, data: unknown, context: BusContext): Promise<Reply> {
    const result: unknown = await handler(data, context);
    return (await lastValueFrom(this.transformToObservable(result))) as Reply;
  }
}
