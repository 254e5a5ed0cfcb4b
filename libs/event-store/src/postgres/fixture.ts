import pg from 'pg';
import { anEvent as makeEvent } from '../testing.js';
import type { EventStore, NewEvent, Position, RecordedEvent, Subscription } from '../event-store.js';
import { migratePostgresEvents, openPostgresEvents } from './load-postgres.js';
import type { Retention } from './partitioned-schema.js';
import type { PostgresEventStore } from './postgres-event-store.js';

export const anEvent = (id?: string): NewEvent => makeEvent(id === undefined ? {} : { id });

let schemas = 0;

/** Schemas, stores and connections of one test on a server, for the specs of this folder. */
export class Fixture {
  readonly schema = `spec${++schemas}`;
  /** Calls of `onFailure`. */
  readonly failures: Error[] = [];
  private readonly stores: PostgresEventStore[] = [];
  private readonly clients: pg.Client[] = [];

  constructor(private readonly url: (role?: string) => string) {}

  migrate(options: { serviceRole?: string; retention?: Retention } = {}): Promise<number | undefined> {
    const { serviceRole, retention } = options;
    return migratePostgresEvents({ url: this.url(), schema: this.schema, serviceRole }, { events: true, retention });
  }

  async migrateLeases(): Promise<void> {
    await migratePostgresEvents({ url: this.url(), schema: this.schema }, { events: false });
  }

  async open(options: { url?: string; timeoutMs?: number } = {}): Promise<PostgresEventStore> {
    const store = await openPostgresEvents({
      url: this.url(),
      schema: this.schema,
      onFailure: (error) => void this.failures.push(error),
      ...options,
    });
    this.stores.push(store);
    return store;
  }

  async connect(role?: string): Promise<pg.Client> {
    const client = new pg.Client(this.url(role));
    // A test ends connections on purpose.
    client.on('error', () => undefined);
    await client.connect();
    this.clients.push(client);
    return client;
  }

  /** One append of one event, as a store does it. */
  async appendOn(client: pg.Client, stream: string, id: string, expected: number, metadata = '{}'): Promise<Position> {
    const { rows } = await client.query<{ last_position: string }>(
      `SELECT last_position FROM ${this.schema}.append_group($1, $2, '{1}', $3, '{Happened}', '{1}', '{"{}"}', $4)`,
      [[stream], [expected], [id], [metadata]],
    );
    return rows[0]!.last_position;
  }

  async close(): Promise<void> {
    await Promise.all(this.stores.map((store) => store.close()));
    await Promise.all(this.clients.map((client) => client.end()));
  }
}

/** A subscriber that records its events. */
export class Collector {
  readonly ids: string[] = [];
  readonly drops: Error[] = [];
  next: Position | undefined;
  private subscription: Subscription;

  constructor(
    private readonly store: EventStore,
    after?: Position,
    private readonly categories?: string[],
  ) {
    this.next = after;
    this.subscription = this.subscribe();
  }

  close(): Promise<void> {
    return this.subscription.close();
  }

  private subscribe(): Subscription {
    return this.store.subscribe(
      { after: this.next, categories: this.categories },
      {
        onEvents: async (events: RecordedEvent[], next) => {
          this.ids.push(...events.map(({ id }) => id));
          this.next = next;
        },
        onDropped: (error) => void this.drops.push(error),
      },
    );
  }
}
