import { Injectable } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import { Outbound, parseAnswer, PlatformConfig } from '@attestry/service-kit';
import { didWebUrl } from '../did/did-web.js';

const TIMEOUT_MS = 4000;
const MAX_BYTES = 256 * 1024;
/** How long a response, or its absence, is cached, milliseconds: the same DID is resolved often, and its host is a third party. */
const FRESH_MS = 2000;

type Document = Record<string, unknown>;

@Injectable()
export class PublishedDocuments {
  private readonly answers = new LRUCache<string, Promise<Document | undefined>>({ max: 1000, ttl: FRESH_MS });

  constructor(
    private readonly outbound: Outbound,
    private readonly config: PlatformConfig,
  ) {}

  /** `undefined` when no document can be retrieved, for whatever reason: a caller must not learn about networks it cannot reach. */
  fetch(tenantId: string, did: string): Promise<Document | undefined> {
    // By tenant: a look-up may fail because of earlier look-ups of this tenant.
    const key = `${tenantId} ${did}`;
    const known = this.answers.get(key);
    if (known) return known;
    const answer = this.fetchOnce(tenantId, did);
    this.answers.set(key, answer);
    return answer;
  }

  private async fetchOnce(tenantId: string, did: string): Promise<Document | undefined> {
    const url = didWebUrl(did, this.config.allowPrivateTargets);
    const target = url === undefined ? undefined : this.outbound.checkUrl(url);
    if (!target || 'fault' in target) return undefined;
    try {
      const { status, body } = await this.outbound.send(target.url, {
        tenantId,
        headers: { accept: 'application/did+json, application/did+ld+json;q=0.9, application/json;q=0.8' },
        timeoutMs: TIMEOUT_MS,
        maxBytes: MAX_BYTES,
      });
      if (status !== 200) return undefined;
      const document = parseAnswer(body) as Document | null;
      // did:web §3.2: the document must be that of this DID.
      return document?.['id'] === did ? document : undefined;
    } catch {
      // No response, too late, too large, refused, or no JSON: in each case no document is published there.
      return undefined;
    }
  }
}
