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

/** The document of that address is neither bundled nor pinned: issuance never fetches (ADR 0060). */
export class ContextNotPinned extends Error {
  override readonly name = 'ContextNotPinned';
  constructor(readonly url: string) {
    super(`context ${url} is neither bundled nor pinned`);
  }
}

/** JSON-LD contexts from memory: the bundled ones, the platform's own, and those a tenant's configuration pinned. */
@Injectable()
export class ContextLoader {
  private readonly bundled: ReadonlyMap<string, object>;
  /** By hash. Sizes are those of the texts. */
  private readonly cached = new LRUCache<string, object>({ max: 1000, maxSize: 32 * 1024 * 1024 });

  constructor(
    private readonly streams: Streams,
    config: PlatformConfig,
  ) {
    this.bundled = sharedContexts(config.contextUrl);
  }

  isBundled(url: string): boolean {
    return this.bundled.has(url);
  }

  /** Loads a configuration's contexts into memory; returns at once when they are loaded. */
  async loadContexts(pinned: PinnedContexts): Promise<void> {
    await Promise.all(pinned.filter(({ url }) => !this.isBundled(url)).map(({ sha256: hash }) => this.cache(hash)));
  }

  /**
   * The document of an address, after {@link loadContexts}.
   * @throws ContextNotPinned
   */
  load(url: string, pinned: PinnedContexts): object {
    const hash = pinned.find((context) => context.url === url)?.sha256;
    const document = this.bundled.get(url) ?? (hash === undefined ? undefined : this.cached.get(hash));
    if (!document) throw new ContextNotPinned(url);
    return document;
  }

  /** The documents a configuration pinned, by address, without the bundled ones. */
  async pinnedDocuments(pinned: PinnedContexts): Promise<ReadonlyMap<string, object>> {
    const own = pinned.filter(({ url }) => !this.isBundled(url));
    await this.loadContexts(own);
    return new Map(own.map(({ url }) => [url, this.load(url, own)]));
  }

  private async cache(hash: string): Promise<void> {
    if (this.cached.has(hash)) return;
    const { state } = await this.streams.load(storedContext, storedContextStream(hash));
    if (state.status !== 'kept') throw new Error(`context ${hash} is not stored`);
    if (sha256(state.document) !== hash) throw new Error(`context ${hash} does not match its hash`);
    this.cached.set(hash, JSON.parse(state.document) as object, { size: state.document.length });
  }
}
