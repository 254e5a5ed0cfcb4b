import { Inject } from '@nestjs/common';
import {
  checkDid,
  createRevocationNotification,
  invalid,
  invalidBody,
  NOTIFICATION_OPERATIONS,
  type ClientContext,
  type CredentialFormat,
  type RevocationNotification,
} from '@attestry/contracts';
import { Streams, type Clock, type Ids } from '@attestry/event-store';
import { CLOCK, IDS, Operation, ServiceClient, type RequestOf } from '@attestry/service-kit';
import { listedCredential } from '../../sessions/issued-credential/issued-credential.decisions.js';
import { issuedCredential, issuedCredentialStream } from '../../sessions/issued-credential/issued-credential.state.js';

const [FORMAT] = Object.keys(NOTIFICATION_OPERATIONS) as [CredentialFormat];
/** Aries RFC 0721 as a message of DIDComm 2.0. */
const TYPE = 'https://didcomm.org/revocation_notification/2.0/revoke';

@Operation(createRevocationNotification)
export class CreateRevocationNotification {
  constructor(
    private readonly streams: Streams,
    private readonly client: ServiceClient,
    @Inject(CLOCK) private readonly clock: Clock,
    @Inject(IDS) private readonly ids: Ids,
  ) {}

  async execute(
    { params: { id }, body: { from, to } }: RequestOf<typeof createRevocationNotification>,
    context: ClientContext,
  ): Promise<RevocationNotification> {
    const { state } = await this.streams.load(issuedCredential, issuedCredentialStream(context.tenant.id, id));
    if (listedCredential(state, FORMAT).listed.status !== 'invalid')
      throw invalid({ value: id, msg: 'must be a revoked credential', param: 'id', location: 'params' });
    const { exists } = await this.client.call(checkDid, { body: { did: from } }, context);
    if (!exists) throw invalidBody('from', 'must be a DID of the tenant', from);
    return {
      id: this.ids.uuid(),
      type: TYPE,
      from,
      to,
      created_time: Math.floor(this.clock.now().getTime() / 1000),
      body: { revocation_format: FORMAT, credential_id: `urn:uuid:${id}` },
    };
  }
}
