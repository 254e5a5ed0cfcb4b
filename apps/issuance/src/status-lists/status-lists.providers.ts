import { PublishStatusLists } from './status-list/publish-status-lists.worker.js';
import { PublishedListsReadModel } from './status-list/published-lists.read-model.js';
import { SignedLists } from './status-list/signed-lists.js';
import { StatusIndexes } from './status-list/status-indexes.js';
import { StatusListsReadModel } from './status-list/status-lists.read-model.js';

export const statusListsProviders = [
  StatusIndexes,
  StatusListsReadModel,
  PublishedListsReadModel,
  SignedLists,
  PublishStatusLists,
];
