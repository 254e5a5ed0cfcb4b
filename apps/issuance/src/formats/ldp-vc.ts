import { Injectable } from '@nestjs/common';
import { base58 } from '@scure/base';
import { LRUCache } from 'lru-cache';
import { oauthError } from '@attestry/contracts';
import {
  Canonicalization,
  CanonicalizationTooLong,
  DocumentFault,
  ED25519_SIGNATURE_2018,
  proofOptionsDocument,
  signEd25519Signature2018,
  type ProofOptions,
} from '@attestry/linked-data';
import { PlatformConfig } from '@attestry/service-kit';
import { baseContextOf } from '../contexts/base-context.js';
import { ContextLoader } from '../contexts/context-loader.js';
import type { ActiveConfiguration } from '../credential-configuration/credential-configuration.decisions.js';
import { linkedDataFault } from '../credential-configuration/linked-data-limits.js';
import { dateTime } from './validity.js';
import { describing, typesOf, type UnsignedCredential, type Format } from './format.js';

const CRYPTOSUITE = 'eddsa-rdfc-2022';

/** A name that JSON-LD would read as a keyword or an alias of one: such a claim would not be data any more. */
const KEYWORD = /^@/;
const hasKeyword = (value: unknown): boolean =>
  typeof value === 'object' &&
  value !== null &&
  Object.entries(value).some(([name, inner]) => (!Array.isArray(value) && KEYWORD.test(name)) || hasKeyword(inner));

type LinkedDataDocument = Record<string, unknown> & { '@context': string[] };
type Proof = ProofOptions | (Omit<ProofOptions, 'type'> & { type: 'DataIntegrityProof'; cryptosuite: string });

/** W3C VCDM 2.0 with a Data Integrity proof (VC-DI-EDDSA §3.2) or VCDM 1.1 with Ed25519Signature2018, OID4VCI Appendix A.1.2. */
@Injectable()
export class LdpVc implements Format {
  readonly format = 'ldp_vc';
  readonly profile = 'web-semantic';
  /** SHA-256 of canonical proof options: identical for all credentials of a configuration within a second. */
  private readonly proofHashes = new LRUCache<string, Buffer>({ max: 500 });

  constructor(
    private readonly contexts: ContextLoader,
    private readonly canonicalization: Canonicalization,
    private readonly config: PlatformConfig,
  ) {}

  /** One canonicalization for all of them, so that limits and deadline hold for the request (ADR 0042). */
  async encode(tenantId: string, credentials: readonly UnsignedCredential[]): Promise<Record<string, unknown>[]> {
    const [first] = credentials;
    if (!first) return [];
    // Before any recursion over levels of the claims.
    const fault = linkedDataFault(first.claims, credentials.length);
    if (fault) throw denied(`the claims of the credentials of one request ${fault}`);
    if (hasKeyword(first.claims)) throw denied('a claim has a member name that starts with @, which JSON-LD reserves');
    const documents = credentials.map((credential) => this.documentOf(credential));
    const options = this.proofOptions(first);
    try {
      const [optionsHash, ...hashes] = await this.hashes(tenantId, first.configuration, options, documents);
      return credentials.map(({ signer }, index) => {
        const document = documents[index]!;
        const signed: readonly [Buffer, Buffer] = [optionsHash!, hashes[index]!];
        if (options.type === ED25519_SIGNATURE_2018)
          return signEd25519Signature2018(document, options, signed, (data) => signer.sign(data));
        // VC-DI-EDDSA §3.2.5: hash of the proof options first, then of the document.
        const proofValue = `z${base58.encode(signer.sign(Buffer.concat(signed)))}`;
        return { ...document, proof: { ...options, proofValue } };
      });
    } catch (error) {
      // The error's own message may contain claim values.
      if (error instanceof DocumentFault) throw denied('the claims cannot be expressed as linked data');
      // Permanent, as the same claims take as long again: a wallet must not retry (OID4VCI §8.3.1.2).
      if (error instanceof CanonicalizationTooLong) throw denied('the claims take too long to canonicalize');
      throw error;
    }
  }

  /** Canonical hash of the proof options, then of each document. */
  private async hashes(
    tenantId: string,
    { id, version, content }: ActiveConfiguration,
    options: Proof,
    documents: readonly LinkedDataDocument[],
  ): Promise<Buffer[]> {
    const contexts = await this.contexts.pinnedDocuments(content.contexts);
    const at = `${id} ${version} ${options.created}`;
    const known = this.proofHashes.get(at);
    if (known) return [known, ...(await this.canonicalization.hashes(tenantId, documents, contexts))];
    const found = await this.canonicalization.hashes(
      tenantId,
      [proofOptionsDocument(documents[0]!, options), ...documents],
      contexts,
    );
    this.proofHashes.set(at, found[0]!);
    return found;
  }

  private proofOptions({ configuration, validFrom }: UnsignedCredential): Proof {
    const common = {
      created: dateTime(validFrom),
      verificationMethod: configuration.issuerKey.verificationMethod,
      proofPurpose: 'assertionMethod',
    } as const;
    return configuration.content.proofType === ED25519_SIGNATURE_2018
      ? { type: ED25519_SIGNATURE_2018, ...common }
      : { type: 'DataIntegrityProof', cryptosuite: CRYPTOSUITE, ...common };
  }

  private documentOf(credential: UnsignedCredential): LinkedDataDocument {
    const { credentialId, configuration, claims, holderDid, validFrom, validUntil } = credential;
    const [from, until] =
      configuration.content.proofType === ED25519_SIGNATURE_2018
        ? ['issuanceDate', 'expirationDate']
        : ['validFrom', 'validUntil'];
    return {
      '@context': this.contextsOf(configuration),
      id: `urn:uuid:${credentialId}`,
      type: typesOf(configuration),
      issuer: { ...configuration.content.issuer, id: configuration.issuerKey.did },
      [from!]: dateTime(validFrom),
      ...(validUntil && { [until!]: dateTime(validUntil) }),
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
}

const denied = (description: string) =>
  oauthError('credential_request_denied', description, { check: 'formats/ldp-vc' });
