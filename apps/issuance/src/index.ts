import type { ServiceDefinition } from '@attestry/service-kit';
import { IssuanceModule } from './issuance.module.js';
import { PUBLISHED } from './issuance.reactions.js';
import { configurations } from './settings/credential-configuration/configurations.read-model.js';
import { dueCertificates } from './certificates/renew-certificates/due-certificates.projection.js';
import { preAuthorizedOffers } from './offers/pre-authorized-offers/pre-authorized-offers.read-model.js';
import { sessionKeys } from './offers/session-keys/session-keys.js';
import { credentialReports } from './registry/credential-reports/credential-reports.read-model.js';
import { publishedLists } from './status-lists/status-list/published-lists.read-model.js';
import { statusLists } from './status-lists/status-list/status-lists.read-model.js';
import { tokenFamilies } from './token/token-family/family-sweep.js';
import { users } from './users/user/users.read-model.js';
import { userSearchTables } from './users/user-search/user-search.read-model.js';

export const issuanceService: ServiceDefinition = {
  name: 'issuance',
  needs: ['domain', 'keys', 'replay-guard', 'rates'],
  publishes: PUBLISHED.map(({ category }) => category),
  module: IssuanceModule,
  projections: [
    configurations,
    dueCertificates,
    users,
    credentialReports,
    userSearchTables,
    preAuthorizedOffers,
    sessionKeys,
    tokenFamilies,
    statusLists,
    publishedLists,
  ].map((projection) => ({
    projection,
    follows: 'domain',
  })),
};
export { storedContextsOf, STORED_CONTEXT_CATEGORY } from './vocabularies/stored-context/stored-contexts-of.js';
/** For the benchmark of a format's own work. */
export { FORMAT_CLASSES } from './formats/formats.js';
