import {
  beginSignIn,
  completeSignIn,
  createAuthenticationProvider,
  listAuthenticationProviders,
  retrieveAuthenticationProvider,
  updateAuthenticationProvider,
  deleteAuthenticationProvider,
  createCustomDomain,
  deleteCustomDomain,
  lookUpCustomDomain,
  retrieveCustomDomain,
  retrieveManifest,
  updateCustomDomain,
  verifyCustomDomain,
} from '@attestry/contracts';
import { command, query } from '@attestry/service-kit';
import { BeginSignIn } from './begin-sign-in/begin-sign-in.js';
import { CompleteSignIn } from './complete-sign-in/complete-sign-in.js';
import { CreateAuthenticationProvider } from './create-authentication-provider/create-authentication-provider.js';
import { ListAuthenticationProviders } from './list-authentication-providers/list-authentication-providers.js';
import { RetrieveAuthenticationProvider } from './retrieve-authentication-provider/retrieve-authentication-provider.js';
import { UpdateAuthenticationProvider } from './update-authentication-provider/update-authentication-provider.js';
import { DeleteAuthenticationProvider } from './delete-authentication-provider/delete-authentication-provider.js';
import { CreateCustomDomain } from './create-custom-domain/create-custom-domain.js';
import { DeleteCustomDomain } from './delete-custom-domain/delete-custom-domain.js';
import { LookUpCustomDomain } from './look-up-custom-domain/look-up-custom-domain.js';
import { RetrieveCustomDomain } from './retrieve-custom-domain/retrieve-custom-domain.js';
import { RetrieveManifest } from './retrieve-manifest/retrieve-manifest.js';
import { UpdateCustomDomain } from './update-custom-domain/update-custom-domain.js';
import { VerifyCustomDomain } from './verify-custom-domain/verify-custom-domain.js';

export const tenantConfigEndpoints = [
  command(createCustomDomain, CreateCustomDomain),
  query(retrieveCustomDomain, RetrieveCustomDomain),
  command(updateCustomDomain, UpdateCustomDomain),
  command(deleteCustomDomain, DeleteCustomDomain),
  command(verifyCustomDomain, VerifyCustomDomain),
  query(retrieveManifest, RetrieveManifest),
  query(lookUpCustomDomain, LookUpCustomDomain),
  command(createAuthenticationProvider, CreateAuthenticationProvider),
  query(listAuthenticationProviders, ListAuthenticationProviders),
  query(retrieveAuthenticationProvider, RetrieveAuthenticationProvider),
  command(updateAuthenticationProvider, UpdateAuthenticationProvider),
  command(deleteAuthenticationProvider, DeleteAuthenticationProvider),
  query(beginSignIn, BeginSignIn),
  command(completeSignIn, CompleteSignIn),
];
