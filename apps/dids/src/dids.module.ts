import { Module } from '@nestjs/common';
import { CreateDid } from './create-did/create-did.js';
import { DeleteDid } from './delete-did/delete-did.js';
import { DidDeletion } from './did/did-deletion.js';
import { DidListsReadModel } from './did-lists/did-lists.read-model.js';
import { LinkageCredentials } from './domain-linkage/linkage-credentials.js';
import { DidsReactions } from './dids.reactions.js';
import { LinkedDomain } from './linked-domain/linked-domain.directory.js';
import { ListDids } from './list-dids/list-dids.js';
import { ReleaseIssuerKey } from './release-issuer-key/release-issuer-key.js';
import { ReserveIssuerKey } from './reserve-issuer-key/reserve-issuer-key.js';
import { DidResolution } from './resolution/did-resolution.js';
import { PublishedDocuments } from './resolution/published-documents.js';
import { RetrieveDid } from './retrieve-did/retrieve-did.js';
import { RetrieveDidConfiguration } from './retrieve-did-configuration/retrieve-did-configuration.js';
import { RetrieveDidDocument } from './retrieve-did-document/retrieve-did-document.js';

@Module({
  providers: [
    CreateDid,
    ListDids,
    RetrieveDid,
    DeleteDid,
    DidDeletion,
    RetrieveDidDocument,
    RetrieveDidConfiguration,
    LinkageCredentials,
    LinkedDomain,
    PublishedDocuments,
    DidResolution,
    // called by issuance
    ReserveIssuerKey,
    ReleaseIssuerKey,
    // lists and reactions
    DidListsReadModel,
    DidsReactions,
  ],
})
export class DidsModule {}
