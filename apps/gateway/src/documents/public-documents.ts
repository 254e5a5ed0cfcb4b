import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { Injectable } from '@nestjs/common';
import type { DocumentAnswer } from '@attestry/contracts';
import { LRUCache } from 'lru-cache';

/** Limit of all documents, in each of their encodings. */
const MAX_BYTES = 64 * 1_048_576;
/** A shorter text gains nothing. */
const GZIP_FROM_BYTES = 1024;
/** Addresses whose documents are known by digest. */
const MAX_ADDRESSES = 10_000;
/** Digests of one address, by language and signature: with each call they are named to the service. */
const DIGESTS_OF_ADDRESS = 8;
/** Size of an entry beside its bytes. */
const ENTRY_BYTES = 512;

const compress = promisify(gzip);

/** The bytes of one content. */
export interface KeptDocument {
  readonly digest: string;
  readonly bytes: Buffer;
  /** Whether compression may help: an image is compressed. */
  readonly isCompressible: boolean;
  /** Absent where it is not shorter. */
  gzip?: Promise<Buffer | undefined>;
  gzipBytes: number;
}

/** A document as the service returned it for one request. */
export interface FoundDocument {
  kept: KeptDocument;
  kind: DocumentAnswer['$document']['kind'];
  headers: Readonly<Record<string, string>>;
}

interface Call {
  ended: Promise<void>;
  /** Begins when this one has ended, for everyone who came in the meantime. */
  next?: Promise<unknown>;
}

/**
 * The bytes of public documents, once per content and encoding (ADR 0097). What is current only the service knows: it is called for each
 * request, with the digests that are kept.
 */
@Injectable()
export class PublicDocuments {
  private readonly kept = new LRUCache<string, KeptDocument>({
    maxSize: MAX_BYTES,
    sizeCalculation: ({ bytes, gzipBytes }) => bytes.length + gzipBytes + ENTRY_BYTES,
  });
  private readonly digests = new LRUCache<string, readonly string[]>({ max: MAX_ADDRESSES });
  private readonly calls = new Map<string, Call>();

  /**
   * @param address of the document, whatever its language and form
   * @param request what else the service reads
   * @param call the service, with the digests as its context names them
   * @returns the document, or what the service returned instead
   */
  find(
    address: string,
    request: string,
    call: (held: string) => Promise<unknown>,
  ): Promise<{ document: FoundDocument } | { result: unknown }> {
    return this.share(`${address}\n${request}`, async () => {
      const held = (this.digests.get(address) ?? []).flatMap((digest) => this.kept.get(digest) ?? []);
      const result = await call(held.map(({ digest }) => digest).join() || 'none');
      const answer = (result as DocumentAnswer | null | undefined)?.$document;
      if (!answer) return { result };
      const { digest, kind, headers = {}, content } = answer;
      const kept = held.find((one) => one.digest === digest) ?? this.keep(digest, kind, content!, headers);
      this.digests.set(
        address,
        [digest, ...held.map((one) => one.digest).filter((one) => one !== digest)].slice(0, DIGESTS_OF_ADDRESS),
      );
      return { document: { kept, kind, headers } };
    });
  }

  /** Compressed in a thread of Node's pool; undefined where that is not shorter. */
  gzipOf(document: KeptDocument): Promise<Buffer | undefined> {
    if (!document.isCompressible || document.bytes.length < GZIP_FROM_BYTES) return Promise.resolve(undefined);
    return (document.gzip ??= this.compress(document));
  }

  private async compress(document: KeptDocument): Promise<Buffer | undefined> {
    const { bytes, digest } = document;
    const compressed = await compress(bytes);
    if (compressed.length >= bytes.length) return undefined;
    document.gzipBytes = compressed.length;
    // Its size is calculated when it is added.
    if (this.kept.delete(digest)) this.kept.set(digest, document);
    return compressed;
  }

  private keep(
    digest: string,
    kind: FoundDocument['kind'],
    content: string,
    headers: FoundDocument['headers'],
  ): KeptDocument {
    const known = this.kept.get(digest);
    if (known) return known;
    const bytes = Buffer.from(content, kind === 'base64' ? 'base64' : 'utf8');
    const document: KeptDocument = {
      digest,
      bytes,
      isCompressible: !headers['content-type']?.startsWith('image/'),
      gzipBytes: 0,
    };
    this.kept.set(digest, document);
    return document;
  }

  /** One call of a key at a time. It answers the requests that came before it began, so that none gets an older document. */
  private share<T>(key: string, call: () => Promise<T>): Promise<T> {
    const current = this.calls.get(key);
    if (current) return (current.next ??= current.ended.then(() => this.begin(key, call))) as Promise<T>;
    return this.begin(key, call);
  }

  private begin<T>(key: string, call: () => Promise<T>): Promise<T> {
    const result = call();
    const begun: Call = { ended: result.then(noop, noop) };
    this.calls.set(key, begun);
    void begun.ended.then(() => {
      if (!begun.next) this.calls.delete(key);
    });
    return result;
  }
}

const noop = (): void => undefined;
