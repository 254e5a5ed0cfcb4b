import { Inject, Injectable } from '@nestjs/common';
import { Streams, type Clock, type EventContext } from '@attestry/event-store';
import { SigningKeys } from '@attestry/keys';
import { CLOCK } from '@attestry/service-kit';
import { finishDeletion } from './did.decisions.js';
import { did, type DidState } from './did.state.js';

/** The second half of a deletion: in the caller's request or, when that was interrupted, in the reaction. */
@Injectable()
export class DidDeletion {
  constructor(
    private readonly streams: Streams,
    private readonly signingKeys: SigningKeys,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  /** Destroys the private keys, then appends the event. No effect unless the deletion was begun. */
  async completeDeletion(stream: string, state: DidState, context: EventContext): Promise<void> {
    if (state.status !== 'deleting') return;
    await this.signingKeys.destroySigningKeys(context.tenantId, [
      ...new Set(state.keys.map(({ kmsKeyId }) => kmsKeyId)),
    ]);
    await this.streams.runDecision(did, stream, (current) => finishDeletion(current, this.clock.now()), context);
  }
}
