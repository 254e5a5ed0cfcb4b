import { createHash } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import { Streams } from '@attestry/event-store';
import { sharedContexts } from '@attestry/linked-data';
import { PlatformConfig } from '@attestry/service-kit';
import { storedContext, storedContextStream } from '../stored-context/stored-context.state.js';

/** By address, with the SHA-256 (base64url) of the document kept (ADR 0060). */
export type PinnedContexts = { url: string; sha256: string }[];

/** base64url SHA-256 over the UTF-8 of a document. */
export const sha256 = (text: string): string => createHash('sha256').update(text, 'utf8').digest('base64url');

/** JSON-LD contexts from memory: the bundled ones, the platform's own, and the texts of those that a tenant's configuration pinned. */
@Injectable()
export class ContextLoader {
  private readonly bundled: ReadonlyMap<string, object>;
  /** Texts by hash, which only a worker thread parses (ADR 0042). */
  private readonly cached = new LRUCache<string, string>({ max: 1000, maxSize: 32 * 1024 * 1024 });

  constructor(
    private readonly streams: Streams,
    config: PlatformConfig,
  ) {
    this.bundled = sharedContexts(config.contextUrl);
  }

  /** The document of an address at which every tenant has the same: well-known, or the platform's. */
  bundledAt(url: string): object | undefined {
    return this.bundled.get(url);
  }

  isBundled(url: string): boolean {
    return this.bundled.has(url);
  }

  /** The texts of the documents that a configuration pinned, by address, without the bundled ones. */
  async pinnedTexts(pinned: PinnedContexts): Promise<ReadonlyMap<string, string>> {
    const own = pinned.filter(({ url }) => !this.isBundled(url));
    return new Map(await Promise.all(own.map(async ({ url, sha256 }) => [url, await this.textOf(sha256)] as const)));
  }

  private async textOf(hash: string): Promise<string> {
    const known = this.cached.get(hash);
    if (known !== undefined) return known;
    const { state } = await this.streams.load(storedContext, storedContextStream(hash));
    if (state.status !== 'kept') throw new Error(`context ${hash} is not stored`);
    if (sha256(state.document) !== hash) throw new Error(`context ${hash} does not match its hash`);
    this.cached.set(hash, state.document, { size: state.document.length || 1 });
    return state.document;
  }
}
