import { Injectable } from '@nestjs/common';
import { AppendTooLarge, Streams, type EventContext } from '@attestry/event-store';
import { invalid, type ErrorDetail, type ProofType } from '@attestry/contracts';
import { Canonicalization, CanonicalizationTooLong, DocumentFault, type ContextResult } from '@attestry/linked-data';
import { Outbound, PlatformConfig } from '@attestry/service-kit';
import { LINKED_DATA_LIMITS } from './linked-data.decisions.js';
import { keepContext } from '../../vocabularies/stored-context/stored-context.decisions.js';
import { storedContext, storedContextStream } from '../../vocabularies/stored-context/stored-context.state.js';
import { baseContextOf, contextsOf } from './base-context.js';
import { claimsToTry, documentWithoutClaims, tryClaims } from './try-claims.js';
import { ContextLoader, sha256, type PinnedContexts } from '../../vocabularies/contexts/context-loader.js';
import { ContextRefused, fetchContext, type FetchedText } from '../../vocabularies/contexts/fetch-context.js';

/** Shape of a credential of the configuration, to try the contexts on. */
export interface TrialCredential {
  types: string[];
  claims: string[];
  /** Claims that have a value whatever the sources of claims return. */
  defaults: Record<string, unknown>;
  proofType?: ProofType;
  revocable?: boolean;
}

interface FetchedContext extends FetchedText {
  url: string;
  sha256: string;
}

const TOO_LARGE = `must have at most ${LINKED_DATA_LIMITS.values} JSON values in all contexts together`;

const DOCUMENT_FAULTS: Readonly<Record<Extract<ContextResult, { fault: string }>['fault'], string>> = {
  json: 'must be JSON',
  context: 'must be a JSON-LD context',
  depth: `must nest at most ${LINKED_DATA_LIMITS.depth} levels deep`,
  values: TOO_LARGE,
  repeats: 'must not repeat an entry of a list',
};

const fault = (msg: string, url?: string): ErrorDetail => ({
  ...(url !== undefined && { value: url }),
  ...{ msg, param: 'contexts', location: 'body' },
});

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
            throw new ContextRefused('must not be listed, because it is part of every credential');
          const bundled = this.loader.bundledAt(url);
          if (bundled) return { url, sha256: sha256(JSON.stringify(bundled)) };
          const document = await fetchContext(this.outbound, context.tenantId, url);
          const entry = { url, sha256: sha256(document.text) };
          fetched.push({ ...document, ...entry });
          return entry;
        } catch (error) {
          if (!(error instanceof ContextRefused)) throw error;
          faults.push(fault(error.message, url));
          return { url, sha256: '' };
        }
      }),
    );
    if (faults.length) throw invalid(...faults);
    await this.inspect(fetched, urls, context.tenantId);
    await this.tryOn(pinned, fetched, trial, context.tenantId);
    for (const document of fetched) await this.storeContext(document, context);
    return pinned;
  }

  /** Every fault of the documents, found in a thread: a document of a tenant is neither parsed nor walked here (ADR 0042). */
  private async inspect(fetched: FetchedContext[], urls: readonly string[], tenantId: string): Promise<void> {
    const texts = fetched.map(({ text }) => text);
    const results = await withinDeadline('contexts', () =>
      this.canonicalization.inspectContexts(tenantId, texts, LINKED_DATA_LIMITS),
    );
    const faults: ErrorDetail[] = [];
    let values = 0;
    for (const [index, result] of results.entries()) {
      const { url, typeFault } = fetched[index]!;
      if ('fault' in result)
        faults.push(fault((result.fault === 'json' && typeFault) || DOCUMENT_FAULTS[result.fault], url));
      else {
        values += result.values;
        if (result.references.some((reference) => !this.loader.isBundled(reference) && !urls.includes(reference)))
          faults.push(fault('refers to a context that must be listed too', url));
      }
    }
    if (values > LINKED_DATA_LIMITS.values) faults.push(fault(TOO_LARGE));
    if (faults.length) throw invalid(...faults);
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
      ...(await this.loader.pinnedTexts(stored)),
      ...fetched.map(({ url, text }) => [url, text] as const),
    ]);
    const document = documentWithoutClaims(contextsOf(trial, this.config.contextUrl, pinned), [
      'VerifiableCredential',
      ...trial.types,
    ]);
    const credential = {
      ...document,
      credentialSubject: {
        ...document.credentialSubject,
        ...Object.fromEntries(trial.claims.map((name) => [name, 'urn:example:value'])),
      },
    };
    const param = pinned.length ? 'contexts' : 'claimMappings';
    try {
      await withinDeadline(param, () => this.canonicalization.hashes(tenantId, [credential], contexts));
    } catch (error) {
      if (error instanceof DocumentFault)
        throw invalid({ msg: `cannot be processed together as JSON-LD (${error.code})`, param, location: 'body' });
      throw error;
    }
    const defaults = claimsToTry(trial.defaults, contexts.size > 0);
    const fault = await tryClaims(this.canonicalization, tenantId, document, defaults, contexts);
    if (fault)
      throw invalid({
        msg: `has a defaultValue that no credential can have: it ${fault.msg}`,
        param: `claimMappings.${fault.claim}`,
        location: 'body',
      });
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

/** @throws AppError 400 for a job that a thread cannot end in time, or with its memory */
const withinDeadline = async <T>(param: string, job: () => Promise<T>): Promise<T> => {
  try {
    return await job();
  } catch (error) {
    if (!(error instanceof CanonicalizationTooLong)) throw error;
    throw invalid({ msg: 'must allow a credential to be canonicalized within 5 seconds', param, location: 'body' });
  }
};
