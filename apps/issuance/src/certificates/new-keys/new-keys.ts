import { Injectable } from '@nestjs/common';
import {
  EventStoreUnavailable,
  Streams,
  type Aggregate,
  type Decided,
  type DomainEvent,
  type EventContext,
  type Loaded,
  type RunOptions,
} from '@attestry/event-store';
import { SigningKeys, type SigningKey, type SigningPurpose } from '@attestry/keys';

/** Creates P-256 keys in the vault. */
export type CreateKeys = (count: number) => Promise<SigningKey[]>;

export interface KeyDecision<State, Event extends DomainEvent> {
  purpose: SigningPurpose;
  aggregate: Aggregate<State, Event>;
  stream: string;
  /** Runs again after a conflict. */
  decide: (loaded: Loaded<State>, createKeys: CreateKeys) => Promise<Event[]> | Event[];
  /** Keys that the state names. */
  keysOf: (state: State) => readonly string[];
}

/** Decisions that create keys: keys are in the vault before the event that names them, and are destroyed where none does. */
@Injectable()
export class NewKeys {
  constructor(
    private readonly streams: Streams,
    private readonly signingKeys: SigningKeys,
  ) {}

  /** @throws KeyNotFound when the tenant was deleted; what `decide` throws */
  async runDecision<State, Event extends DomainEvent>(
    { purpose, aggregate, stream, decide, keysOf }: KeyDecision<State, Event>,
    context: EventContext,
    options?: Pick<RunOptions, 'once' | 'fence'>,
  ): Promise<Decided<State, Event>> {
    const { tenantId } = context;
    const made: string[] = [];
    const createKeys: CreateKeys = async (count) => {
      const keys = await this.signingKeys.createSigningKeys(tenantId, purpose, Array(count).fill('P-256'));
      made.push(...keys.map(({ keyId }) => keyId));
      return keys;
    };
    let decided: Decided<State, Event>;
    try {
      decided = await this.streams.runDecision(
        aggregate,
        stream,
        (_, loaded) => decide(loaded, createKeys),
        context,
        options,
      );
    } catch (error) {
      // When the store failed, the events may exist that name the keys.
      if (!(error instanceof EventStoreUnavailable)) await this.destroyUnused(tenantId, made, []);
      throw error;
    }
    await this.destroyUnused(tenantId, made, keysOf(decided.state));
    return decided;
  }

  private async destroyUnused(tenantId: string, made: readonly string[], used: readonly string[]): Promise<void> {
    const unused = made.filter((keyId) => !used.includes(keyId));
    if (unused.length) await this.signingKeys.destroySigningKeys(tenantId, unused);
  }
}
