import { ClientAuthentication } from './client-credentials/client-authentication.js';
import { FirstManagementClient } from './register-management-client/first-management-client.js';
import { ManagementClientInbox } from './register-management-client/management-client-inbox.js';

export const platformProviders = [ClientAuthentication, FirstManagementClient, ManagementClientInbox];
