import { ClaimUse } from './claim-sets/claim-use.js';
import { GuardedExchange } from './claim-sources/guarded-exchange.js';
import { NamedSources } from './claim-sources/named-sources.js';
import { SourceClaims } from './claim-sources/source-claims.js';
import { SourceSecrets } from './claim-sources/source-secrets.js';
import { SourceSlots } from './claim-sources/source-slots.js';
import { SourceTokens } from './claim-sources/source-tokens.js';
import { CredentialClaims } from './credential-claims/credential-claims.js';
import { SessionClaims } from './sign-in-claims/session-claims.js';

export const claimsProviders = [
  NamedSources,
  SourceSecrets,
  GuardedExchange,
  SourceTokens,
  SourceSlots,
  SourceClaims,
  CredentialClaims,
  SessionClaims,
  ClaimUse,
];
