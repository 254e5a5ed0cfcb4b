import { AuthorizationAnswers } from './authorization-request/authorization-answers.js';
import { AuthorizationCodes } from './authorization-request/authorization-codes.js';
import { AuthorizationRequests } from './authorization-request/authorization-requests.js';
import { PendingAuthorizations } from './authorization-request/pending-authorizations.js';
import { PendingConsents } from './authorization-request/pending-consents.js';
import { ProviderSignIn } from './authorization-request/provider-sign-in.js';
import { PushedAuthorizations } from './authorization-request/pushed-authorizations.js';
import { ConsentPages } from './authorize/consent-pages.js';
import { InteractionHooks } from './interaction-hook/interaction-hooks.js';
import { PendingInteractions } from './interaction-hook/pending-interactions.js';

export const authorizationProviders = [
  PendingAuthorizations,
  PushedAuthorizations,
  PendingConsents,
  ProviderSignIn,
  AuthorizationRequests,
  ConsentPages,
  AuthorizationAnswers,
  AuthorizationCodes,
  PendingInteractions,
  InteractionHooks,
];
