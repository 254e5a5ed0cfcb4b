import { Inject } from '@nestjs/common';
import {
  httpAnswer,
  REVOCATION_OPERATIONS,
  revocationOperationOf,
  type ClientContext,
  type CredentialRevocationStatus,
  type HttpAnswer,
  type RevocationOperations,
} from '@attestry/contracts';
import { Streams, type Clock } from '@attestry/event-store';
import { CLOCK, eventContext, Operation, type RequestOf } from '@attestry/service-kit';
import { Formats } from '../../formats/formats.js';
import { changeStatus } from '../../sessions/issued-credential/issued-credential.decisions.js';
import { issuedCredential, issuedCredentialStream } from '../../sessions/issued-credential/issued-credential.state.js';
import { UsersReadModel } from '../../users/user/users.read-model.js';

/** An event of the credential alone, as any change of a status. */
@Operation(...revocationOperationOf('set'))
export class SetRevocationStatus {
  constructor(
    private readonly streams: Streams,
    private readonly formats: Formats,
    private readonly credentials: UsersReadModel,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  async execute(
    { params: { id }, body: { isRevoked } }: RequestOf<RevocationOperations['set']>,
    context: ClientContext,
  ): Promise<CredentialRevocationStatus | HttpAnswer> {
    const { format, resources } = this.formats.ofCall(context);
    const status = isRevoked ? 'invalid' : 'valid';
    const isReversible = resources.revocation === 'reversible';
    const now = this.clock.now();
    const { position } = await this.streams.runDecision(
      issuedCredential,
      issuedCredentialStream(context.tenant.id, id),
      (state) => changeStatus(state, { format, status, isReversible }, now),
      eventContext(context),
    );
    await this.credentials.running.ownWrite(position);
    return REVOCATION_OPERATIONS[format]!.set.response ? { id, isRevoked } : httpAnswer({});
  }
}
