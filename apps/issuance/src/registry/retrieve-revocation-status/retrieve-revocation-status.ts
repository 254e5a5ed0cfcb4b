import {
  revocationOperationOf,
  type ClientContext,
  type RevocationOperations,
  type RevocationStatus,
} from '@attestry/contracts';
import { Streams } from '@attestry/event-store';
import { Operation, type RequestOf } from '@attestry/service-kit';
import { Formats } from '../../formats/formats.js';
import { listedCredential } from '../../sessions/issued-credential/issued-credential.decisions.js';
import { issuedCredential, issuedCredentialStream } from '../../sessions/issued-credential/issued-credential.state.js';

@Operation(...revocationOperationOf('retrieve'))
export class RetrieveRevocationStatus {
  constructor(
    private readonly streams: Streams,
    private readonly formats: Formats,
  ) {}

  async execute(
    { params }: RequestOf<RevocationOperations['retrieve']>,
    context: ClientContext,
  ): Promise<RevocationStatus> {
    const stream = issuedCredentialStream(context.tenant.id, params.id);
    const { state } = await this.streams.load(issuedCredential, stream);
    const { listed } = listedCredential(state, this.formats.ofCall(context).format);
    return { isRevoked: listed.status === 'invalid' };
  }
}
