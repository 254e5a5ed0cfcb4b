import { Injectable } from '@nestjs/common';
import { AppendTooLarge, Streams, type EventContext } from '@attestry/event-store';
import { invalid, jsonSize, type ErrorDetail, type ProofType } from '@attestry/contracts';
import { Canonicalization, CanonicalizationTooLong, DocumentFault } from '@attestry/linked-data';
import { DnsBudgetExceeded, Outbound, PlatformConfig } from '@attestry/service-kit';
import { LINKED_DATA_LIMITS } from './linked-data.decisions.js';
import { keepContext } from '../../stored-context/stored-context.decisions.js';
import { storedContext, storedContextStream } from '../../stored-context/stored-context.state.js';
import { baseContextOf, contextsOf } from './base-context.js';
import { ContextLoader, sha256, type PinnedContexts } from '../../contexts/context-loader.js';

const MAX_BYTES = 1024 * 1024;
const TIMEOUT_MS = 5000;

/** Shape of a credential of the configuration, to try the contexts on. */
export interface TrialCredential {
  types: string[];
  claims: string[];
  proofType?: ProofType;
  revocable?: boolean;
}

interface FetchedContext {
  url: string;
  sha256: string;
  text: string;
  document: object;
  /** JSON values in the document. */
  values: number;
}

class Refused extends Error {}

const TOO_LARGE = `must have at most ${LINKED_DATA_LIMITS.values} JSON values in all contexts together`;

/** Addresses of other contexts that a context document refers to: as members of its context, scoped, or imported. */
const referencesOf = (context: unknown): string[] => {
  if (typeof context === 'string') return [context];
  if (Array.isArray(context)) return context.flatMap(referencesOf);
  if (typeof context !== 'object' || context === null) return [];
  return Object.entries(context).flatMap(([key, value]) => {
    if (key === '@import') return typeof value === 'string' ? [value] : [];
    if (key === '@context') return referencesOf(value);
    return typeof value === 'object' && value !== null && '@context' in value
      ? referencesOf((value as { '@context': unknown })['@context'])
      : [];
  });
};

/** Whether a list of contexts names one twice. Nested lists would multiply: a few values could expand to millions of contexts. */
const repeatsContext = (value: unknown): boolean => {
  if (typeof value !== 'object' || value === null) return false;
  if (Array.isArray(value)) {
    const texts = value.map((entry) => JSON.stringify(entry));
    if (new Set(texts).size < texts.length) return true;
  }
  return Object.values(value).some(repeatsContext);
};

/** Fetches, checks and keeps the contexts a tenant names in a configuration, at its creation only (ADR 0060). */
@Injectable()
export class TenantContexts {
  constructor(
    private readonly streams: Streams,
    private readonly outbound: Outbound,
    private readonly loader: ContextLoader,
    private readonly canonicalization: Canonicalization,
    private readonly config: PlatformConfig,
  ) {}

  /**
   * Pins each address to a document. `known` are the configuration's present contexts: they are not fetched again.
   * @throws AppError 400, `param: contexts`; 503 when the tenant's DNS look-ups or trials took too long
   */
  async pin(
    urls: readonly string[],
    known: PinnedContexts,
    trial: TrialCredential,
    context: EventContext,
  ): Promise<PinnedContexts> {
    const faults: ErrorDetail[] = [];
    const fetched: FetchedContext[] = [];
    const pinned = await Promise.all(
      urls.map(async (url) => {
        const before = known.find((entry) => entry.url === url);
        if (before) return before;
        try {
          if (url === baseContextOf(trial) || url === this.config.contextUrl)
            throw new Refused('must not be listed, because it is part of every credential');
          if (this.loader.isBundled(url)) return { url, sha256: sha256(JSON.stringify(this.loader.load(url, []))) };
          const document = await this.fetchContext(context.tenantId, url);
          fetched.push(document);
          return { url, sha256: document.sha256 };
        } catch (error) {
          if (!(error instanceof Refused)) throw error;
          faults.push({ value: url, msg: error.message, param: 'contexts', location: 'body' });
          return { url, sha256: '' };
        }
      }),
    );
    for (const { url, document } of fetched)
      for (const reference of referencesOf((document as { '@context': unknown })['@context']))
        if (!this.loader.isBundled(reference) && !urls.includes(reference))
          faults.push({
            value: url,
            msg: 'refers to a context that must be listed too',
            param: 'contexts',
            location: 'body',
          });
    if (fetched.reduce((sum, { values }) => sum + values, 0) > LINKED_DATA_LIMITS.values)
      faults.push({ msg: TOO_LARGE, param: 'contexts', location: 'body' });
    if (faults.length) throw invalid(...faults);
    await this.tryOn(pinned, fetched, trial, context.tenantId);
    await Promise.all(fetched.map((document) => this.storeContext(document, context)));
    return pinned;
  }

  /** One document. Errors of the target are a 400: the tenant has to correct them. */
  private async fetchContext(tenantId: string, url: string): Promise<FetchedContext> {
    const target = this.outbound.checkUrl(url);
    if ('fault' in target) throw new Refused(target.fault);
    let text: string;
    try {
      const answer = await this.outbound.send(target.url, {
        tenantId,
        headers: { accept: 'application/ld+json, application/json;q=0.9' },
        timeoutMs: TIMEOUT_MS,
        maxBytes: MAX_BYTES,
      });
      if (answer.status !== 200) throw new Error(`status ${answer.status}`);
      text = new TextDecoder('utf-8', { fatal: true }).decode(answer.body);
    } catch (error) {
      if (error instanceof DnsBudgetExceeded) throw error;
      // The cause could reveal networks that the tenant cannot reach; only our own limits are named.
      throw new Refused('could not be fetched; it must be at most 1 MiB and arrive within 5 seconds', { cause: error });
    }
    let document: unknown;
    try {
      document = JSON.parse(text);
    } catch (error) {
      throw new Refused('must be JSON', { cause: error });
    }
    if (typeof document !== 'object' || document === null || !('@context' in document))
      throw new Refused('must be a JSON-LD context');
    // Before any recursion over levels: JSON.parse does not recurse.
    const { values, exceeds } = jsonSize(document, LINKED_DATA_LIMITS);
    if (exceeds === 'depth') throw new Refused(`must nest at most ${LINKED_DATA_LIMITS.depth} levels deep`);
    if (exceeds) throw new Refused(TOO_LARGE);
    if (repeatsContext((document as { '@context': unknown })['@context']))
      throw new Refused('must not repeat an entry of a list');
    return { url, sha256: sha256(text), text, document, values };
  }

  /** Canonicalizes a credential with these contexts, so that contexts that cannot work are refused now and not during issuance. */
  private async tryOn(
    pinned: PinnedContexts,
    fetched: FetchedContext[],
    trial: TrialCredential,
    tenantId: string,
  ): Promise<void> {
    const stored = pinned.filter(({ url }) => !fetched.some((document) => document.url === url));
    const contexts = new Map([
      ...(await this.loader.pinnedDocuments(stored)),
      ...fetched.map(({ url, document }) => [url, document] as const),
    ]);
    const credential = {
      '@context': contextsOf(trial, this.config.contextUrl, pinned),
      type: ['VerifiableCredential', ...trial.types],
      issuer: 'did:example:issuer',
      credentialSubject: {
        id: 'did:example:holder',
        ...Object.fromEntries(trial.claims.map((name) => [name, 'urn:example:value'])),
      },
    };
    try {
      await this.canonicalization.hashes(tenantId, [credential], contexts);
    } catch (error) {
      const param = pinned.length ? 'contexts' : 'claimMappings';
      if (error instanceof DocumentFault)
        throw invalid({ msg: `cannot be processed together as JSON-LD (${error.code})`, param, location: 'body' });
      if (error instanceof CanonicalizationTooLong)
        throw invalid({ msg: 'must allow a credential to be canonicalized within 5 seconds', param, location: 'body' });
      throw error;
    }
  }

  private async storeContext({ sha256, text }: FetchedContext, context: EventContext): Promise<void> {
    try {
      await this.streams.runDecision(
        storedContext,
        storedContextStream(sha256),
        (state) => keepContext(state, { sha256, document: text }),
        context,
      );
    } catch (error) {
      if (!(error instanceof AppendTooLarge)) throw error;
      throw invalid({ msg: 'must each be at most 1 MiB', param: 'contexts', location: 'body' });
    }
  }
}
