import { formatProviders } from './formats.js';
import { TenantContexts } from './ldp-vc/tenant-contexts.js';

export const formatsProviders = [TenantContexts, ...formatProviders];
