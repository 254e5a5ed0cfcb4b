import { IsBoolean, IsString, Matches, MaxLength } from 'class-validator';
import { defineOperation, requires } from '../operation.js';
import { PageQuery } from '../pagination.js';
import { Name, Optional, Uuid } from '../validators.js';
import { MAX_REDIRECT_URI, MAX_WALLET_CLIENT_ID } from './protocol.js';
import { RootCertificates, Texts } from './root-certificates.js';

const MAX_REDIRECT_URIS = 20;
const CLIENT_ID_FAULT = `must be at most ${MAX_WALLET_CLIENT_ID} printable ASCII characters (RFC 6749 A.1)`;

const RedirectUris = (): PropertyDecorator => Texts(MAX_REDIRECT_URIS, MAX_REDIRECT_URI);

class WalletMembers {
  @Name() name: string;
  /** Identifier that the wallet sends as `client_id`, at most 1024 printable ASCII characters. Unique among the tenant's wallets. */
  @IsString({ message: 'must be a string' })
  @Matches(/^[\x20-\x7e]+$/, { message: CLIENT_ID_FAULT })
  @MaxLength(MAX_WALLET_CLIENT_ID, { message: CLIENT_ID_FAULT })
  clientId: string;
  /** Whether access tokens must be bound to a DPoP key (RFC 9449); with `rootCertificates`, to the key of the client attestation. Default: false. */
  @Optional() @IsBoolean({ message: 'must be a boolean' }) dpopRequired?: boolean;
  /** A disabled wallet is refused. Default: false. */
  @Optional() @IsBoolean({ message: 'must be a boolean' }) disabled?: boolean;
}

export class WalletRequest extends WalletMembers {
  /**
   * Addresses that codes and errors may be sent to: https, http of a loopback host, whose port is ignored (RFC 8252 section 7.3), or a
   * private-use scheme. Compared exactly. Required unless there are `rootCertificates`.
   */
  @Optional() @RedirectUris() redirectUris?: string[];
  /** Roots of the certificates of client attestations, PEM, each at most 4096 characters. With them the wallet must attest itself. */
  @Optional() @RootCertificates() rootCertificates?: string[];
}

export class AttestedWalletRequest extends WalletMembers {
  /** Addresses that codes and errors may be sent to, as of any wallet. */
  @Optional() @RedirectUris() redirectUris?: string[];
  /** Roots of the certificates of client attestations, PEM, each at most 4096 characters. */
  @RootCertificates() rootCertificates: string[];
}

export class RegisteredWallet {
  id: string;
  name: string;
  clientId: string;
  redirectUris?: string[];
  /** PEM. */
  rootCertificates?: string[];
  /** Whether the wallet must attest itself: it has `rootCertificates`. Read-only. */
  attestationRequired: boolean;
  dpopRequired: boolean;
  disabled: boolean;
}

export class WalletParams {
  /** Id of the wallet. */
  @Uuid() id: string;
}

const since = 'v2.1.0';
const category = 'openid-wallet';
const type = 'wallet';
const object = { type, from: 'params.id' } as const;
const response = RegisteredWallet;
const maxBodyBytes = 262_144;
const REPLACES = 'Replaces all members; one that is left out has its default.';
const LIMIT = 'Returns 409 if the tenant already has 100 wallets.';
const NO_ATTESTATION =
  'A wallet with `rootCertificates` must send a client attestation to the token and the pushed request endpoint.';
const path = '/v1/openid/wallets';
const prefix = 'OPENID_WALLET';
const example: WalletRequest = {
  name: 'City wallet',
  clientId: 'https://wallet.example.com',
  redirectUris: ['https://wallet.example.com/back'],
};

export const createWallet = defineOperation({
  name: 'issuance.create-wallet',
  since,
  summary: 'Register a wallet',
  description: `Wallets that are not registered may be refused, or their users must consent first. ${NO_ATTESTATION} ${LIMIT}`,
  http: { method: 'POST', path, success: 201, maxBodyBytes },
  access: requires('wallets:create'),
  analytics: { prefix: `${prefix}_CREATE`, category, object: { type, from: 'event.id' } },
  body: WalletRequest,
  example,
  resource: RegisteredWallet,
  response,
  errorStatuses: [400, 409],
  idempotent: true,
});

export const listWallets = defineOperation({
  name: 'issuance.list-wallets',
  since,
  summary: 'Retrieve the wallets of the tenant',
  http: { method: 'GET', path, success: 200 },
  access: requires('wallets:read'),
  analytics: { prefix: `${prefix}_RETRIEVE_LIST`, category },
  query: PageQuery,
  response: [RegisteredWallet],
  errorStatuses: [400],
});

export const retrieveWallet = defineOperation({
  name: 'issuance.retrieve-wallet',
  since,
  summary: 'Retrieve a wallet',
  http: { method: 'GET', path: `${path}/:id`, success: 200 },
  access: requires('wallets:read'),
  analytics: { prefix: `${prefix}_RETRIEVE`, category, object },
  params: WalletParams,
  response,
  errorStatuses: [400, 404],
});

export const updateWallet = defineOperation({
  name: 'issuance.update-wallet',
  since,
  summary: 'Change a wallet',
  description: REPLACES,
  http: { method: 'PUT', path: `${path}/:id`, success: 200, maxBodyBytes },
  access: requires('wallets:update'),
  analytics: { prefix: `${prefix}_UPDATE`, category, object },
  params: WalletParams,
  body: WalletRequest,
  example: { ...example, disabled: true },
  response,
  errorStatuses: [400, 404],
});

export const deleteWallet = defineOperation({
  name: 'issuance.delete-wallet',
  since,
  summary: 'Delete a wallet',
  http: { method: 'DELETE', path: `${path}/:id`, success: 204 },
  access: requires('wallets:delete'),
  analytics: { prefix: `${prefix}_DELETE`, category, object },
  params: WalletParams,
  errorStatuses: [400, 404],
});

// The same resource under the path of wallets that attest themselves; those without roots are not found there.
const attestedPath = '/v1/openid/wallet-attestation-configurations';
const attestedPrefix = 'OPENID_WALLET_ATTESTATION_CONFIGURATION';
const attestedExample: AttestedWalletRequest = {
  name: 'State wallet',
  clientId: 'https://state-wallet.example.com',
  rootCertificates: ['-----BEGIN CERTIFICATE-----\nMIIB…\n-----END CERTIFICATE-----'],
};

export const createAttestedWallet = defineOperation({
  name: 'issuance.create-wallet.attested',
  operationId: 'createAttestedWallet',
  since,
  summary: 'Register a wallet that attests itself',
  description: `The same resource as \`${path}\`. ${NO_ATTESTATION} ${LIMIT}`,
  http: { method: 'POST', path: attestedPath, success: 201, maxBodyBytes },
  access: requires('wallets:create'),
  analytics: { prefix: `${attestedPrefix}_CREATE`, category, object: { type, from: 'event.id' } },
  body: AttestedWalletRequest,
  example: attestedExample,
  resource: RegisteredWallet,
  response,
  errorStatuses: [400, 409],
  idempotent: true,
});

export const listAttestedWallets = defineOperation({
  name: 'issuance.list-wallets.attested',
  operationId: 'listAttestedWallets',
  since,
  summary: 'Retrieve the wallets of the tenant that attest themselves',
  http: { method: 'GET', path: attestedPath, success: 200 },
  access: requires('wallets:read'),
  analytics: { prefix: `${attestedPrefix}_RETRIEVE_LIST`, category },
  query: PageQuery,
  response: [RegisteredWallet],
  errorStatuses: [400],
});

export const retrieveAttestedWallet = defineOperation({
  name: 'issuance.retrieve-wallet.attested',
  operationId: 'retrieveAttestedWallet',
  since,
  summary: 'Retrieve a wallet that attests itself',
  http: { method: 'GET', path: `${attestedPath}/:id`, success: 200 },
  access: requires('wallets:read'),
  analytics: { prefix: `${attestedPrefix}_RETRIEVE`, category, object },
  params: WalletParams,
  response,
  errorStatuses: [400, 404],
});

export const updateAttestedWallet = defineOperation({
  name: 'issuance.update-wallet.attested',
  operationId: 'updateAttestedWallet',
  since,
  summary: 'Change a wallet that attests itself',
  description: REPLACES,
  http: { method: 'PUT', path: `${attestedPath}/:id`, success: 200, maxBodyBytes },
  access: requires('wallets:update'),
  analytics: { prefix: `${attestedPrefix}_UPDATE`, category, object },
  params: WalletParams,
  body: AttestedWalletRequest,
  example: attestedExample,
  response,
  errorStatuses: [400, 404],
});

export const deleteAttestedWallet = defineOperation({
  name: 'issuance.delete-wallet.attested',
  operationId: 'deleteAttestedWallet',
  since,
  summary: 'Delete a wallet that attests itself',
  http: { method: 'DELETE', path: `${attestedPath}/:id`, success: 204 },
  access: requires('wallets:delete'),
  analytics: { prefix: `${attestedPrefix}_DELETE`, category, object },
  params: WalletParams,
  errorStatuses: [400, 404],
});
