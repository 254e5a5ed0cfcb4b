import { Inject } from '@nestjs/common';
import {
  statusOperationOf,
  type ClientContext,
  type CredentialStatusAnswer,
  type StatusOperations,
} from '@attestry/contracts';
import { Streams, type Clock } from '@attestry/event-store';
import { CLOCK, eventContext, Operation, type RequestOf } from '@attestry/service-kit';
import { Formats } from '../../formats/formats.js';
import { changeStatus } from '../../sessions/issued-credential/issued-credential.decisions.js';
import { issuedCredential, issuedCredentialStream } from '../../sessions/issued-credential/issued-credential.state.js';
import { UsersReadModel } from '../../users/user/users.read-model.js';

/** An event of the credential alone; its status list and the list of credentials follow. */
@Operation(...statusOperationOf('set'))
export class SetCredentialStatus {
  constructor(
    private readonly streams: Streams,
    private readonly formats: Formats,
    private readonly credentials: UsersReadModel,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  async execute(
    { params, body }: RequestOf<StatusOperations['set']>,
    context: ClientContext,
  ): Promise<CredentialStatusAnswer> {
    const { format } = this.formats.ofCall(context);
    const now = this.clock.now();
    const { position } = await this.streams.runDecision(
      issuedCredential,
      issuedCredentialStream(context.tenant.id, params.id),
      (state) => changeStatus(state, { ...body, format }, now),
      eventContext(context),
    );
    await this.credentials.running.ownWrite(position);
    return { status: body.status };
  }
}
