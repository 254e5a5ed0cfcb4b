import { Injectable } from '@nestjs/common';
import type { Decided, DomainEvent, EventContext, Loaded, RunOptions } from '@attestry/event-store';
import { SigningKeys, type Signer } from '@attestry/keys';
import { NewKeys, type KeyDecision } from '../new-keys/new-keys.js';

/** Makes keys in the vault, ready to sign. */
export type MakeKeys = (count: number) => Promise<Signer[]>;

export interface CertificateDecision<State, Event extends DomainEvent> extends Omit<
  KeyDecision<State, Event>,
  'purpose' | 'decide'
> {
  /** Runs again after a conflict. */
  decide: (loaded: Loaded<State>, makeKeys: MakeKeys) => Promise<Event[]> | Event[];
}

/** Decisions that make certificates. */
@Injectable()
export class CertificateKeys {
  constructor(
    private readonly newKeys: NewKeys,
    private readonly signingKeys: SigningKeys,
  ) {}

  /** @throws KeyNotFound when the tenant was deleted; what `decide` throws */
  runDecision<State, Event extends DomainEvent>(
    { decide, ...decision }: CertificateDecision<State, Event>,
    context: EventContext,
    options?: Pick<RunOptions, 'once' | 'fence'>,
  ): Promise<Decided<State, Event>> {
    return this.newKeys.runDecision(
      {
        ...decision,
        purpose: 'certificate',
        decide: (loaded, createKeys) =>
          decide(loaded, async (count) => {
            const keys = await createKeys(count);
            return Promise.all(keys.map(({ keyId }) => this.signingKeys.loadSigner(context.tenantId, keyId)));
          }),
      },
      context,
      options,
    );
  }
}
