import {
  statusOperationOf,
  type ClientContext,
  type CredentialStatusAnswer,
  type StatusOperations,
} from '@attestry/contracts';
import { Streams } from '@attestry/event-store';
import { Operation, type RequestOf } from '@attestry/service-kit';
import { Formats } from '../../formats/formats.js';
import { listedCredential } from '../../sessions/issued-credential/issued-credential.decisions.js';
import { issuedCredential, issuedCredentialStream } from '../../sessions/issued-credential/issued-credential.state.js';

@Operation(...statusOperationOf('retrieve'))
export class RetrieveCredentialStatus {
  constructor(
    private readonly streams: Streams,
    private readonly formats: Formats,
  ) {}

  async execute(
    { params }: RequestOf<StatusOperations['retrieve']>,
    context: ClientContext,
  ): Promise<CredentialStatusAnswer> {
    const stream = issuedCredentialStream(context.tenant.id, params.id);
    const { state } = await this.streams.load(issuedCredential, stream);
    const { listed } = listedCredential(state, this.formats.ofCall(context).format);
    return { status: listed.status };
  }
}
