import { Inject, Injectable } from '@nestjs/common';
import type { ClientContext, CredentialFormat } from '@attestry/contracts';
import { Streams, type Clock } from '@attestry/event-store';
import { CLOCK, eventContext } from '@attestry/service-kit';
import {
  credentialConfiguration,
  credentialConfigurationStream,
} from '../credential-configuration/credential-configuration.state.js';
import { claimType, releaseType, type ClaimFacts } from './type-claim.decisions.js';
import { typeClaim, typeClaimStream, type TypeClaimState } from './type-claim.state.js';

export interface TypeOwner {
  tenantId: string;
  format: CredentialFormat;
  type: string;
  /** Configuration id. */
  owner: string;
}

const streamOf = ({ tenantId, format, type }: TypeOwner): string => typeClaimStream(tenantId, format, type);

/** A tenant's types of one format, each claimed by at most one configuration (ADR 0009). */
@Injectable()
export class TypeClaims {
  constructor(
    private readonly streams: Streams,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  /** Refuses a type that is taken, without claiming it: the common refusal then costs nothing. @throws AppError 400 */
  async check(owner: TypeOwner): Promise<void> {
    const { state } = await this.streams.load(typeClaim, streamOf(owner));
    claimType(state, owner, await this.facts(owner, state));
  }

  /** @throws AppError 400, `param: type` */
  async claim(owner: TypeOwner, context: ClientContext): Promise<void> {
    await this.streams.runDecision(
      typeClaim,
      streamOf(owner),
      async (state) => claimType(state, owner, await this.facts(owner, state)),
      eventContext(context),
    );
  }

  async release(owner: TypeOwner, context: ClientContext): Promise<void> {
    await this.streams.runDecision(
      typeClaim,
      streamOf(owner),
      (state) => releaseType(state, owner.owner),
      eventContext(context),
    );
  }

  private async facts({ tenantId }: TypeOwner, state: TypeClaimState): Promise<ClaimFacts> {
    const now = this.clock.now();
    if (state.status === 'free') return { now, ownerStatus: 'absent' };
    const stream = credentialConfigurationStream(tenantId, state.owner);
    const owner = await this.streams.load(credentialConfiguration, stream);
    return { now, ownerStatus: owner.state.status };
  }
}
