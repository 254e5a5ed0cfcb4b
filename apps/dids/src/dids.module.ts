import { Module } from '@nestjs/common';
import { DidDeletion } from './did/did-deletion.js';
import { DidListsReadModel } from './did-lists/did-lists.read-model.js';
import { LinkageCredentials } from './domain-linkage/linkage-credentials.js';
import { DidsReactions } from './dids.reactions.js';
import { LinkedDomain } from './linked-domain/linked-domain.directory.js';
import { DidPublication } from './resolution/did-publication.js';
import { DidResolution } from './resolution/did-resolution.js';
import { PublishedDocuments } from './resolution/published-documents.js';
import { useCases } from './use-cases.generated.js';

@Module({
  providers: [
    ...useCases,
    DidDeletion,
    LinkageCredentials,
    LinkedDomain,
    PublishedDocuments,
    DidPublication,
    DidResolution,
    // lists and reactions
    DidListsReadModel,
    DidsReactions,
  ],
})
export class DidsModule {}
