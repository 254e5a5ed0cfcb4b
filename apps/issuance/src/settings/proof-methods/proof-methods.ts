import { randomUUID } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { AppError, findProofMethod } from '@attestry/contracts';
import { ServiceClient } from '@attestry/service-kit';
import { LRUCache } from 'lru-cache';

/** How long an answer is used, milliseconds. Then the next proof still uses it, while the DID service is called again. */
const FRESH_MS = 5_000;
/** How long a credential waits for the first answer, milliseconds. */
const PATIENCE_MS = 1500;

/** The verification methods that Data Integrity proofs name: the `Multikey` of a key once the document of its DID is published with it (ADR 0116). */
@Injectable()
export class ProofMethods {
  private readonly known: LRUCache<string, string>;

  constructor(client: ServiceClient) {
    this.known = new LRUCache<string, string>({
      max: 10_000,
      ttl: FRESH_MS,
      allowStale: true,
      allowStaleOnFetchRejection: true,
      noDeleteOnFetchRejection: true,
      fetchMethod: async (key) => {
        const [tenantId, verificationMethod] = key.split(' ', 2) as [string, string];
        const found = await client.call(
          findProofMethod,
          { body: { tenantId, verificationMethod } },
          {
            requestId: randomUUID(),
            operation: 'issuance.proof-methods',
            deadline: Date.now() + PATIENCE_MS,
          },
        );
        return found.verificationMethod;
      },
    });
  }

  /** @param verificationMethod of the configuration; only a did:web has a second one */
  async find(tenantId: string, verificationMethod: string): Promise<string> {
    if (!verificationMethod.startsWith('did:web:')) return verificationMethod;
    try {
      return (await this.known.fetch(`${tenantId} ${verificationMethod}`)) ?? verificationMethod;
    } catch (error) {
      // Without the DID service credentials are issued as before: the earlier method stays in the document.
      if (!(error instanceof AppError)) throw error;
      this.known.set(`${tenantId} ${verificationMethod}`, verificationMethod);
      return verificationMethod;
    }
  }
}
