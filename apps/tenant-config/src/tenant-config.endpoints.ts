import {
  createCustomDomain,
  deleteCustomDomain,
  lookUpCustomDomain,
  retrieveCustomDomain,
  retrieveManifest,
  updateCustomDomain,
  verifyCustomDomain,
} from '@attestry/contracts';
import { command, query } from '@attestry/service-kit';
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
];
