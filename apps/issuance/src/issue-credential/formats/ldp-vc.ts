import { Injectable } from '@nestjs/common';
import { base58 } from '@scure/base';
import { LRUCache } from 'lru-cache';
import { oauthError } from '@attestry/contracts';
import {
  canonicalHash,
  ED25519_SIGNATURE_2018,
  isJsonLdFault,
  signEd25519Signature2018,
  type DocumentLoader,
} from '@attestry/linked-data';
import { PlatformConfig } from '@attestry/service-kit';
import { baseContextOf } from '../../contexts/base-context.js';
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

/** W3C VCDM 2.0 with a Data Integrity proof (VC-DI-EDDSA §3.2) or VCDM 1.1 with Ed25519Signature2018, OID4VCI Appendix A.1.2. */
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
    if (hasKeyword(credential.claims)) throw denied('a claim holds a JSON-LD keyword');
    try {
      return await (credential.configuration.content.proofType === ED25519_SIGNATURE_2018
        ? this.encodeVcdm1(credential)
        : this.encodeVcdm2(credential));
    } catch (error) {
      // The error's own text may hold claim values.
      if (isJsonLdFault(error)) throw denied('the claims cannot be expressed as linked data');
      throw error;
    }
  }

  private async encodeVcdm2(credential: CredentialToIssue): Promise<Record<string, unknown>> {
    const { configuration, signer, validFrom, validUntil } = credential;
    const document = this.documentOf(credential, {
      validFrom: dateTime(validFrom),
      ...(validUntil && { validUntil: dateTime(validUntil) }),
    });
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
      canonicalHash(document, loader),
    ]);
    // §3.2.5: hash of the proof options first, then of the document.
    const signature = signer.sign(Buffer.concat([proofHash, documentHash]));
    return { ...document, proof: { ...proof, proofValue: `z${base58.encode(signature)}` } };
  }

  private async encodeVcdm1(credential: CredentialToIssue): Promise<Record<string, unknown>> {
    const { configuration, signer, validFrom, validUntil } = credential;
    const document = this.documentOf(credential, {
      issuanceDate: dateTime(validFrom),
      ...(validUntil && { expirationDate: dateTime(validUntil) }),
    });
    const proof = {
      type: ED25519_SIGNATURE_2018,
      created: dateTime(validFrom),
      verificationMethod: configuration.issuerKey.verificationMethod,
      proofPurpose: 'assertionMethod',
    } as const;
    const loader = this.contexts.documentLoader(configuration.content.contexts);
    const options = this.proofHash({ '@context': document['@context'], ...proof }, configuration, loader);
    return signEd25519Signature2018(document, proof, (data) => signer.sign(data), loader, options);
  }

  /** The members that both versions of the data model share, around the dates of one. */
  private documentOf({ credentialId, configuration, claims, holderDid }: CredentialToIssue, dates: object) {
    return {
      '@context': this.contextsOf(configuration),
      id: `urn:uuid:${credentialId}`,
      type: typesOf(configuration),
      issuer: { ...configuration.content.issuer, id: configuration.issuerKey.did },
      ...dates,
      ...describing(configuration),
      credentialSubject: { ...claims, id: holderDid },
    };
  }

  typeMember(configuration: ActiveConfiguration): Record<string, unknown> {
    return {
      credential_definition: { '@context': this.contextsOf(configuration), type: typesOf(configuration) },
    };
  }

  signingAlgorithms({ content }: ActiveConfiguration): string[] {
    return [content.proofType ?? CRYPTOSUITE];
  }

  claimPath(name: string): string[] {
    return ['credentialSubject', name];
  }

  private contextsOf({ content }: ActiveConfiguration): string[] {
    return [baseContextOf(content), this.config.contextUrl, ...content.contexts.map(({ url }) => url)];
  }

  private proofHash(
    options: { '@context': string[]; created: string },
    { id, version }: ActiveConfiguration,
    loader: DocumentLoader,
  ): Promise<Buffer> {
    const at = `${id} ${version} ${options.created}`;
    let found = this.proofHashes.get(at);
    if (!found) this.proofHashes.set(at, (found = canonicalHash(options, loader)));
    return found;
  }
}

const denied = (description: string) =>
  oauthError('credential_request_denied', description, { check: 'formats/ldp-vc' });
