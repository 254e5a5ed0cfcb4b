import {
  createDid,
  deleteDid,
  listDids,
  releaseIssuerKey,
  reserveIssuerKey,
  retrieveDid,
  retrieveDidConfiguration,
  retrieveDidDocument,
} from '@attestry/contracts';
import { command, query } from '@attestry/service-kit';
import { CreateDid } from './create-did/create-did.js';
import { DeleteDid } from './delete-did/delete-did.js';
import { ListDids } from './list-dids/list-dids.js';
import { ReleaseIssuerKey } from './release-issuer-key/release-issuer-key.js';
import { ReserveIssuerKey } from './reserve-issuer-key/reserve-issuer-key.js';
import { RetrieveDid } from './retrieve-did/retrieve-did.js';
import { RetrieveDidConfiguration } from './retrieve-did-configuration/retrieve-did-configuration.js';
import { RetrieveDidDocument } from './retrieve-did-document/retrieve-did-document.js';

export const didsEndpoints = [
  command(createDid, CreateDid),
  query(listDids, ListDids),
  query(retrieveDid, RetrieveDid),
  command(deleteDid, DeleteDid),
  query(retrieveDidDocument, RetrieveDidDocument),
  query(retrieveDidConfiguration, RetrieveDidConfiguration),
  command(reserveIssuerKey, ReserveIssuerKey),
  command(releaseIssuerKey, ReleaseIssuerKey),
];
