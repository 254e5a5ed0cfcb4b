import { analyticsRows } from './analytics.rows.js';
import { authorizationRows } from './authorization.rows.js';
import { certificatesRows } from './certificates.rows.js';
import { claimSourcesRows } from './claim-sources.rows.js';
import { clientsRows } from './clients.rows.js';
import { configurationsRows } from './configurations.rows.js';
import { credentialEndpointsRows } from './credential-endpoints.rows.js';
import { credentialsRows } from './credentials.rows.js';
import { deferralsRows } from './deferrals.rows.js';
import { didsRows } from './dids.rows.js';
import { metadataRows } from './metadata.rows.js';
import { offersRows } from './offers.rows.js';
import { peopleRows } from './people.rows.js';
import { platformRows } from './platform.rows.js';
import { statusListsRows } from './status-lists.rows.js';
import { tenantSettingsRows } from './tenant-settings.rows.js';
import { tenantsRows } from './tenants.rows.js';
import { usersRows } from './users.rows.js';
import { walletsRows } from './wallets.rows.js';
import { webhooksRows } from './webhooks.rows.js';
import type { Row } from './row.js';

/** A row for every HTTP operation; the suite fails when one is missing or too many. */
export const ROWS: Record<string, Row> = {
  ...platformRows,
  ...tenantsRows,
  ...clientsRows,
  ...peopleRows,
  ...tenantSettingsRows,
  ...didsRows,
  ...configurationsRows,
  ...credentialsRows,
  ...certificatesRows,
  ...statusListsRows,
  ...walletsRows,
  ...claimSourcesRows,
  ...offersRows,
  ...authorizationRows,
  ...credentialEndpointsRows,
  ...deferralsRows,
  ...metadataRows,
  ...usersRows,
  ...webhooksRows,
  ...analyticsRows,
};
