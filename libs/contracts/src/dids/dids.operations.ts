import { ArrayMaxSize, IsArray, IsIn, IsString, Length } from 'class-validator';
import { calledBy, calledForTenant, defineOperation, publicAccess, requires } from '../operation.js';
import { PageQuery } from '../pagination.js';
import { AdviceOnMissing, IsRecord, BoundedJson, BoundedText, Optional, Uuid } from '../validators.js';

/** Key types of a did:key. */
export const DID_KEY_TYPES = ['Ed25519', 'P-256', 'Bls12381G2'] as const;
export type DidKeyType = (typeof DID_KEY_TYPES)[number];

/**
 * Options of a DID method.
 * @minProperties 1
 */
export class DidOptions {
  /** For method `key`: `Ed25519` (default), `P-256` or `Bls12381G2`. */
  @Optional() @IsIn(DID_KEY_TYPES) keyType?: DidKeyType;
  /** For method `web`: a host, a host with a path, or an https URL. */
  @Optional() @BoundedText(1024) url?: string;
}

export class CreateDidRequest {
  /** DID method. */
  @IsIn(['key', 'web'], { message: 'must be one of: key, web' }) method: 'key' | 'web';

  /**
   * At least one member. For method `key`: `keyType`, which is `Ed25519` (default), `P-256` or `Bls12381G2`. For method `web`: `url`,
   * which is a host, a host with a path, or an https URL. Members of the other method are rejected.
   */
  @AdviceOnMissing('options.url for method web, options.keyType for method key')
  @IsRecord()
  @BoundedJson({ entries: 10, values: 100 })
  options: DidOptions;
}

export class DidKeyReference {
  /** Identifier of the key in the DID document. */
  didDocumentKeyId: string;
  /** UUID of the key in the key store of the platform. */
  kmsKeyId: string;
}

export class LocalDidMetadata {
  keys: DidKeyReference[];
  /** Time of registration in milliseconds since the epoch. */
  registered: number;
  initialDidDocument: Record<string, unknown>;
}

export type RegistrationStatus = 'COMPLETED' | 'PROCESSING' | 'FAILED';

export class ListedDid {
  did: string;
  localMetadata: LocalDidMetadata;
}

export class DidRecord extends ListedDid {
  registrationStatus: RegistrationStatus;
}

/** For a DID of the tenant its record, for any other DID its resolved DID document. */
export class RetrievedDid {
  did: string;
  registrationStatus?: RegistrationStatus;
  localMetadata?: LocalDidMetadata;
  /** Resolved DID document. Only for a DID that does not belong to the tenant. */
  didDocument?: Record<string, unknown>;
}

export class DidParams {
  /** DID, percent-encoded in the path. */
  @BoundedText(2048, 7) id: string;
}

const category = 'did';

export const createDid = defineOperation({
  name: 'dids.create-did',
  summary: 'Create a DID with its keys',
  http: { method: 'POST', path: '/v1/dids', success: 201 },
  access: requires('dids:create'),
  analytics: { prefix: 'DID_CREATE', category, object: { type: 'did', from: 'stream' } },
  body: CreateDidRequest,
  example: { method: 'key', options: { keyType: 'P-256' } },
  resource: DidRecord,
  response: DidRecord,
  errorStatuses: [400],
  idempotent: true,
});

export const listDids = defineOperation({
  name: 'dids.list-dids',
  summary: 'Retrieve the DIDs of the tenant',
  http: { method: 'GET', path: '/v1/dids', success: 200 },
  access: requires('dids:read'),
  analytics: { prefix: 'DID_RETRIEVE_LIST', category },
  query: PageQuery,
  response: [ListedDid],
  errorStatuses: [400],
});

export const retrieveDid = defineOperation({
  name: 'dids.retrieve-did',
  summary: 'Retrieve a DID of the tenant with its metadata, or resolve any other DID',
  http: { method: 'GET', path: '/v1/dids/:id', success: 200 },
  access: requires('dids:read'),
  analytics: { prefix: 'DID_RETRIEVE', category, object: { type: 'did', from: 'params.id' } },
  params: DidParams,
  response: RetrievedDid,
  errorStatuses: [400, 404],
});

export const updateDidDocument = defineOperation({
  name: 'dids.update-did-document',
  since: 'v3.0.0',
  summary: 'Add to the document of a did:web what documents have by now',
  description:
    'Each Ed25519 and P-256 key a second time as `Multikey`, which DIDs from before lack. `initialDidDocument` then has it; publish it where another host serves the document. Proofs by `eddsa-rdfc-2022` and `ecdsa-rdfc-2019` name the `Multikey` once it was found there. Called again, it changes nothing.',
  http: { method: 'POST', path: '/v1/dids/:id/document', success: 200, body: 'none' },
  access: requires('dids:create'),
  analytics: { prefix: 'DID_DOCUMENT_UPDATE', category, object: { type: 'did', from: 'params.id' } },
  params: DidParams,
  response: DidRecord,
  errorStatuses: [400, 404],
});

export const deleteDid = defineOperation({
  name: 'dids.delete-did',
  summary: 'Delete a DID and destroy its private keys',
  http: { method: 'DELETE', path: '/v1/dids/:id', success: 204 },
  access: requires('dids:delete'),
  analytics: { prefix: 'DID_DELETE', category, object: { type: 'did', from: 'params.id' } },
  params: DidParams,
  errorStatuses: [400, 404],
});

/** Served by host and path: `/.well-known/did.json`, or `<path>/did.json` for a did:web with path. */
export const retrieveDidDocument = defineOperation({
  name: 'dids.retrieve-did-document',
  summary: "Retrieve the DID document of the tenant's did:web",
  http: {
    method: 'GET',
    path: '/.well-known/did.json',
    alsoAt: ['*/did.json'],
    success: 200,
    hosts: ['tenant', 'custom-domain'],
    body: 'raw',
    document: true,
    cacheControl: 'public, max-age=300',
  },
  access: publicAccess,
  publicUrl: true,
  errorStatuses: [404],
});

export class DomainLinkageSubject {
  /** DID that is linked with the origin. */
  id: string;
  /** Scheme, host and port, for example `https://acme.example`. */
  origin: string;
}

export class DomainLinkageProof {
  /** `DataIntegrityProof` for a DID without an Ed25519 key. */
  type: 'Ed25519Signature2018' | 'DataIntegrityProof';
  /** Cryptosuite of a `DataIntegrityProof`: `bbs-2023` for a DID with only a BLS12-381 key. */
  cryptosuite?: 'ecdsa-rdfc-2019' | 'bbs-2023';
  created: string;
  /** DID URL of the key that verifies the proof. */
  verificationMethod: string;
  proofPurpose: 'assertionMethod';
  /** Detached JWS (RFC 7797) of an `Ed25519Signature2018`. */
  jws?: string;
  /**
   * Value of a `DataIntegrityProof`, multibase: the signature of `ecdsa-rdfc-2019` in base58btc, the derived proof of `bbs-2023` in
   * base64url.
   */
  proofValue?: string;
}

/** Links a DID with an origin (DIF Well Known DID Configuration, Linked Data Proof Format). */
export class DomainLinkageCredential {
  '@context': string[];
  type: string[];
  /** DID that issues the credential, the same as `credentialSubject.id`. */
  issuer: string;
  issuanceDate: string;
  expirationDate: string;
  credentialSubject: DomainLinkageSubject;
  proof: DomainLinkageProof;
}

export class DidConfiguration {
  '@context': string;
  /** The credentials of `linked_dids`. Absent at the path of the DIF, `/.well-known/did-configuration.json`. */
  entries?: DomainLinkageCredential[];
  /** One credential for each DID and each origin of the tenant, newest DID first. */
  linked_dids: DomainLinkageCredential[];
}

export const retrieveDidConfiguration = defineOperation({
  name: 'dids.retrieve-did-configuration',
  summary: "Retrieve the domain linkage credentials of the tenant's DIDs",
  http: {
    method: 'GET',
    path: '/.well-known/did-configuration',
    alsoAt: ['/.well-known/did-configuration.json'],
    success: 200,
    hosts: ['tenant', 'custom-domain'],
    body: 'raw',
    document: true,
    cacheControl: 'public, max-age=300',
  },
  access: publicAccess,
  publicUrl: true,
  response: DidConfiguration,
});

/** The key with which issuance signs credentials: its DID, verification method and id. */
export class IssuerKey {
  did: string;
  /** DID URL of the verification method, used as `kid` and `verificationMethod`. */
  verificationMethod: string;
  kmsKeyId: string;
  algorithm: 'P-256' | 'Ed25519';
  /** True for a DID on the tenant's verified domain whose document was not found there. */
  isUnpublished?: boolean;
}

export class ReserveIssuerKeyRequest {
  /** Default: the tenant's first COMPLETED DID, of the `method` if there is one, with a key of one of the `algorithms`. */
  @Optional() @IsString() @Length(7, 2048) did?: string;
  /** Method of the DID that is chosen where the request names none. Default: any. */
  @Optional() @IsIn(['web']) method?: 'web';
  /** Member that names the DID in the request to issuance, for the details of a refusal. Default: `issuerDid`. */
  @Optional() @IsIn(['issuer', 'issuerDid']) member?: 'issuer' | 'issuerDid';
  /** Accepted key types, preferred first. */
  @IsArray() @ArrayMaxSize(2) @IsIn(['P-256', 'Ed25519'], { each: true }) algorithms: ('P-256' | 'Ed25519')[];
  /** Credential configuration that keeps the DID from being deleted. */
  @Uuid() configurationId: string;
}

/** 400 with the `member` as `param` when no DID has a suitable key. */
export const reserveIssuerKey = defineOperation({
  name: 'dids.reserve-issuer-key',
  summary: 'Choose a DID and a key for a credential configuration and reserve the DID, so that it cannot be deleted',
  access: calledForTenant('issuance'),
  body: ReserveIssuerKeyRequest,
  response: IssuerKey,
});

export class ReleaseIssuerKeyRequest {
  @Uuid() tenantId: string;
  @IsString() @Length(7, 2048) did: string;
  @Uuid() configurationId: string;
}

export const releaseIssuerKey = defineOperation({
  name: 'dids.release-issuer-key',
  summary: 'Release the reservation of a DID',
  access: calledBy('issuance'),
  body: ReleaseIssuerKeyRequest,
});

export class ProofMethodRequest {
  @Uuid() tenantId: string;
  /** DID URL of a key that issuance has reserved. */
  @IsString() @Length(7, 2100) verificationMethod: string;
}

export class ProofMethod {
  /** DID URL of its `Multikey`, if that is published, otherwise of the request. */
  verificationMethod: string;
}

/** For proofs by `eddsa-rdfc-2022` and `ecdsa-rdfc-2019`. */
export const findProofMethod = defineOperation({
  name: 'dids.find-proof-method',
  summary: 'The verification method that a Data Integrity proof names for a key',
  access: calledBy('issuance'),
  kind: 'query',
  body: ProofMethodRequest,
  response: ProofMethod,
});

export class CheckDidRequest {
  @IsString() @Length(7, 2048) did: string;
}
export class DidExistence {
  exists: boolean;
}

/** Called by issuance before it makes a message of a DID. */
export const checkDid = defineOperation({
  name: 'dids.check-did',
  summary: 'Whether a DID belongs to the tenant and is not deleted',
  access: calledForTenant('issuance'),
  kind: 'query',
  body: CheckDidRequest,
  response: DidExistence,
});
