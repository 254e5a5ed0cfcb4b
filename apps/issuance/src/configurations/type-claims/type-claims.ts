import { Inject, Injectable } from '@nestjs/common';
import type { ClientContext, CredentialFormat } from '@attestry/contracts';
import { Streams, type ClaimFacts, type Clock, type NameClaimState } from '@attestry/event-store';
import { CLOCK, eventContext } from '@attestry/service-kit';
import {
  credentialConfiguration,
  credentialConfigurationStream,
} from '../../settings/credential-configuration/credential-configuration.state.js';
import { credentialType } from '../../settings/credential-configuration/credential-type.claim.js';

export interface TypeOwner {
  tenantId: string;
  /** Name of the format; formats that share their types use one name. */
  format: CredentialFormat;
  type: string;
  /** Configuration id. */
  owner: string;
}

const streamOf = ({ tenantId, format, type }: TypeOwner): string => credentialType.stream(tenantId, format, type);

/** A tenant's types of one format, or of formats that share them, each claimed by at most one configuration (ADR 0009). */
@Injectable()
export class TypeClaims {
  constructor(
    private readonly streams: Streams,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  /** Refuses a type that is taken, without claiming it: the common refusal then costs nothing. @throws AppError 400 */
  async refuseTakenType(owner: TypeOwner): Promise<void> {
    const { state } = await this.streams.load(credentialType, streamOf(owner));
    credentialType.claim(state, owner, await this.facts(owner, state));
  }

  /** @throws AppError 400, `param: type` */
  async claim(owner: TypeOwner, context: ClientContext): Promise<void> {
    await this.streams.runDecision(
      credentialType,
      streamOf(owner),
      async (state) => credentialType.claim(state, owner, await this.facts(owner, state)),
      eventContext(context),
    );
  }

  async release(owner: TypeOwner, context: ClientContext): Promise<void> {
    await this.streams.runDecision(
      credentialType,
      streamOf(owner),
      (state) => credentialType.release(state, owner),
      eventContext(context),
    );
  }

  private async facts({ tenantId }: TypeOwner, state: NameClaimState): Promise<ClaimFacts> {
    const now = this.clock.now().toISOString();
    if (state.status === 'free') return { now, ownerStatus: 'absent' };
    const stream = credentialConfigurationStream(tenantId, state.owner);
    const owner = await this.streams.load(credentialConfiguration, stream);
    return { now, ownerStatus: owner.state.status };
  }
}
