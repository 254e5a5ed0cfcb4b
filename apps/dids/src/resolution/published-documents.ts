import { Injectable } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import { Outbound, parseAnswer, PlatformConfig } from '@attestry/service-kit';
import { didWebUrl } from '../did/did-web.js';

const TIMEOUT_MS = 4000;
const MAX_BYTES = 256 * 1024;
/** For so long an answer, or that there was none, is not asked for again, milliseconds: a DID is looked at often, its host is not ours. */
const FRESH_MS = 2000;

type Document = Record<string, unknown>;

/** did:web documents where their hosts publish them, through the guarded client. */
@Injectable()
export class PublishedDocuments {
  private readonly answers = new LRUCache<string, Promise<Document | undefined>>({ max: 1000, ttl: FRESH_MS });

  constructor(
    private readonly outbound: Outbound,
    private readonly config: PlatformConfig,
  ) {}

  /** `undefined` when there is none to be had, for whatever reason: a caller must not learn about networks it cannot see. */
  fetch(tenantId: string, did: string): Promise<Document | undefined> {
    // By tenant: a look-up may fail for what this tenant has done before.
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
      // No answer, too late, too large, refused, or no JSON: in each case nothing is published there.
      return undefined;
    }
  }
}
