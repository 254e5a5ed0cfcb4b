import { Inject } from '@nestjs/common';
import { notFound, registryOperationOf, type ClientContext, type RegistryOperations } from '@attestry/contracts';
import { Streams, type Clock } from '@attestry/event-store';
import { CLOCK, eventContext, Operation, type RequestOf } from '@attestry/service-kit';
import { Formats } from '../../formats/formats.js';
import { deleteCredential } from '../../sessions/issued-credential/issued-credential.decisions.js';
import { issuedCredential, issuedCredentialStream } from '../../sessions/issued-credential/issued-credential.state.js';
import { PersistedCredentials } from '../persisted-credential/persisted-credentials.js';
import { UsersReadModel } from '../../users/user/users.read-model.js';

/** The key of a persisted document is destroyed before the events are written (ADR 0058). */
@Operation(...registryOperationOf('delete'))
export class DeleteIssuedCredential {
  constructor(
    private readonly users: UsersReadModel,
    private readonly streams: Streams,
    private readonly formats: Formats,
    private readonly persisted: PersistedCredentials,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  async execute({ params }: RequestOf<RegistryOperations['delete']>, context: ClientContext): Promise<void> {
    const tenantId = context.tenant.id;
    const { format, resources } = this.formats.ofCall(context);
    const row = await this.users.findCredential(tenantId, format, params.id);
    if (!row) throw notFound();
    const events = eventContext(context);
    const erased = await this.persisted.erase(tenantId, params.id, events);
    const issued = { credentialId: params.id, userId: row.user_id, issuedAt: row.issued_at };
    const deleted = await this.streams.runDecision(
      issuedCredential,
      issuedCredentialStream(tenantId, params.id),
      (state) => deleteCredential(state, issued, this.clock.now(), resources.revocation === 'reversible'),
      events,
      { unit: { further: [erased] } },
    );
    await this.users.running.ownWrite(deleted.position);
  }
}
