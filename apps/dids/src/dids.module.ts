import { Module } from '@nestjs/common';
import { CqrsModule } from '@nestjs/cqrs';
import { CreateDidHandler } from './create-did/create-did.js';
import { DeleteDidHandler } from './delete-did/delete-did.js';
import { DidDeletion } from './delete-did/did-deletion.js';
import { DidListsReadModel } from './did-lists/did-lists.read-model.js';
import { LinkageCredentials } from './domain-linkage/linkage-credentials.js';
import { DidsReactions } from './dids.reactions.js';
import { LinkedDomain } from './linked-domain/linked-domain.directory.js';
import { ListDidsHandler } from './list-dids/list-dids.js';
import { ReleaseIssuerKeyHandler } from './release-issuer-key/release-issuer-key.js';
import { ReserveIssuerKeyHandler } from './reserve-issuer-key/reserve-issuer-key.js';
import { DidResolution } from './resolution/did-resolution.js';
import { PublishedDocuments } from './resolution/published-documents.js';
import { RetrieveDidHandler } from './retrieve-did/retrieve-did.js';
import { RetrieveDidConfigurationHandler } from './retrieve-did-configuration/retrieve-did-configuration.js';
import { RetrieveDidDocumentHandler } from './retrieve-did-document/retrieve-did-document.js';

@Module({
  imports: [CqrsModule],
  providers: [
    CreateDidHandler,
    ListDidsHandler,
    RetrieveDidHandler,
    DeleteDidHandler,
    DidDeletion,
    RetrieveDidDocumentHandler,
    RetrieveDidConfigurationHandler,
    LinkageCredentials,
    LinkedDomain,
    PublishedDocuments,
    DidResolution,
    // what issuance asks
    ReserveIssuerKeyHandler,
    ReleaseIssuerKeyHandler,
    // lists and reactions
    DidListsReadModel,
    DidsReactions,
  ],
})
export class DidsModule {}
