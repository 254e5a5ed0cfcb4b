import {
  notFound,
  retrieveCredentialDocument,
  type CredentialDocument,
  type RetrieveCredentialDocumentRequest,
} from '@attestry/contracts';
import { EventStore, isFullPage, ONE_PAGE, readEvent } from '@attestry/event-store';
import { Operation, type RequestOf } from '@attestry/service-kit';
import type { CredentialIssuedV1 } from '../../sessions/issuance-session/issuance-session.events.js';
import { issuanceSessionStream } from '../../sessions/issuance-session/issuance-session.state.js';
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
    const document = stored ? recordedDocument(readEvent(issuedCredential, stored)) : await this.findInSession(body);
    if (!document) throw notFound();
    return { sealed: document.sealed };
  }

  /** Releases before ADR 0070 stored documents in the session's stream. */
  private async findInSession({
    tenantId,
    sessionId,
    credentialId,
  }: RetrieveCredentialDocumentRequest): Promise<SealedDocument | undefined> {
    const stream = issuanceSessionStream(tenantId, sessionId);
    for (let from = 0; ;) {
      const page = await this.store.readStream(stream, { from, ...ONE_PAGE });
      for (const { type, data } of page) {
        const issued = data as CredentialIssuedV1;
        if (type === 'CredentialIssued' && issued.credentialId === credentialId) return issued.sealedCredential;
      }
      if (!isFullPage(page)) return undefined;
      from = page.at(-1)!.revision + 1;
    }
  }
}

/** Document in the first event of a credential's stream. */
const recordedDocument = (event: IssuedCredentialEvent): SealedDocument | undefined =>
  event.type === 'CredentialRecorded' ? event.data.document : undefined;
