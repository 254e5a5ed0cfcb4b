import { notFound, retrieveCredentialDocument, type CredentialDocument } from '@attestry/contracts';
import { EventStore, readEvent } from '@attestry/event-store';
import { Operation, type RequestOf } from '@attestry/service-kit';
import type {
  IssuedCredentialEvent,
  SealedDocument,
} from '../../sessions/issued-credential/issued-credential.events.js';
import { issuedCredential, issuedCredentialStream } from '../../sessions/issued-credential/issued-credential.state.js';

/** The text remains sealed: webhooks opens it with its own right to the key. */
@Operation(retrieveCredentialDocument)
export class RetrieveCredentialDocument {
  constructor(private readonly store: EventStore) {}

  async execute({ body }: RequestOf<typeof retrieveCredentialDocument>): Promise<CredentialDocument> {
    const [stored] = await this.store.readStream(issuedCredentialStream(body.tenantId, body.credentialId), {
      limit: 1,
    });
    const document = stored && recordedDocument(readEvent(issuedCredential, stored));
    if (!document) throw notFound();
    return { sealed: document.sealed };
  }
}

/** Document in the first event of a credential's stream. */
const recordedDocument = (event: IssuedCredentialEvent): SealedDocument | undefined =>
  event.type === 'CredentialRecorded' ? event.data.document : undefined;
