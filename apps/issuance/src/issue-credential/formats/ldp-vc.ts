import { Injectable } from '@nestjs/common';
import { base58 } from '@scure/base';
import { LRUCache } from 'lru-cache';
import { oauthError } from '@attestry/contracts';
import { canonicalHash, CREDENTIALS_V2, isJsonLdFault, type DocumentLoader } from '@attestry/linked-data';
import { PlatformConfig } from '@attestry/service-kit';
import { ContextLoader } from '../../contexts/context-loader.js';
import type { ActiveConfiguration } from '../../credential-configuration/credential-configuration.decisions.js';
import { dateTime } from '../validity.js';
import { describing, typesOf, type CredentialToIssue, type Format } from './format.js';

const CRYPTOSUITE = 'eddsa-rdfc-2022';

/** A name that JSON-LD would read as a keyword or an alias of one: then a claim is no data any more. */
const KEYWORD = /^@/;
const hasKeyword = (value: unknown): boolean =>
  typeof value === 'object' &&
  value !== null &&
  Object.entries(value).some(([name, inner]) => (!Array.isArray(value) && KEYWORD.test(name)) || hasKeyword(inner));

/** W3C VCDM 2.0 with a Data Integrity proof (VC-DI-EDDSA §3.2), OID4VCI Appendix A.1.2. */
@Injectable()
export class LdpVc implements Format {
  readonly format = 'ldp_vc';
  readonly profile = 'web-semantic';
  /** SHA-256 of canonical proof options: the same for all credentials of a configuration within a second. */
  private readonly proofHashes = new LRUCache<string, Promise<Buffer>>({ max: 500 });

  constructor(
    private readonly contexts: ContextLoader,
    private readonly config: PlatformConfig,
  ) {}

  async encode(credential: CredentialToIssue): Promise<Record<string, unknown>> {
    const { configuration, signer, claims, holderDid, validFrom, validUntil } = credential;
    if (hasKeyword(claims)) throw denied('a claim holds a JSON-LD keyword');
    const document = {
      '@context': this.contextsOf(configuration),
      id: `urn:uuid:${credential.credentialId}`,
      type: typesOf(configuration),
      issuer: { ...configuration.content.issuer, id: configuration.issuerKey.did },
      validFrom: dateTime(validFrom),
      ...(validUntil && { validUntil: dateTime(validUntil) }),
      ...describing(configuration),
      credentialSubject: { ...claims, id: holderDid },
    };
    const proof = {
      type: 'DataIntegrityProof',
      cryptosuite: CRYPTOSUITE,
      created: dateTime(validFrom),
      verificationMethod: configuration.issuerKey.verificationMethod,
      proofPurpose: 'assertionMethod',
    };
    const loader = this.contexts.documentLoader(configuration.content.contexts);
    const [proofHash, documentHash] = await Promise.all([
      this.proofHash({ '@context': document['@context'], ...proof }, configuration, loader),
      hashOf(document, loader),
    ]);
    // §3.2.5: hash of the proof options first, then of the document.
    const signature = signer.sign(Buffer.concat([proofHash, documentHash]));
    return { ...document, proof: { ...proof, proofValue: `z${base58.encode(signature)}` } };
  }

  typeMember(configuration: ActiveConfiguration): Record<string, unknown> {
    return {
      credential_definition: { '@context': this.contextsOf(configuration), type: typesOf(configuration) },
    };
  }

  signingAlgorithms(): string[] {
    return [CRYPTOSUITE];
  }

  claimPath(name: string): string[] {
    return ['credentialSubject', name];
  }

  private contextsOf({ content }: ActiveConfiguration): string[] {
    return [CREDENTIALS_V2, this.config.contextUrl, ...content.contexts.map(({ url }) => url)];
  }

  private proofHash(
    options: { '@context': string[]; created: string },
    { id, version }: ActiveConfiguration,
    loader: DocumentLoader,
  ): Promise<Buffer> {
    const at = `${id} ${version} ${options.created}`;
    let found = this.proofHashes.get(at);
    if (!found) this.proofHashes.set(at, (found = hashOf(options, loader)));
    return found;
  }
}

/** SHA-256 of the RDFC-1.0 form. */
const hashOf = async (document: object, documentLoader: DocumentLoader): Promise<Buffer> => {
  try {
    return await canonicalHash(document, documentLoader);
  } catch (error) {
    // The error's own text may hold claim values.
    if (isJsonLdFault(error)) throw denied('the claims cannot be expressed as linked data');
    throw error;
  }
};

const denied = (description: string) =>
  oauthError('credential_request_denied', description, { check: 'formats/ldp-vc' });
