import { hash } from 'node:crypto';
import { isMainThread, workerData } from 'node:worker_threads';
import jsonld from 'jsonld';
import type { DocumentLoader, ResolvedContexts } from 'jsonld';
import ContextResolver from 'jsonld/lib/ContextResolver.js';

// Runs in a worker thread, from source too, where Node only strips types: no imports of other source files.

export type SharedContexts = readonly (readonly [url: string, document: object])[];

/** Contexts of a tenant as text, by address: only a thread parses and walks them. */
export type OwnContexts = readonly (readonly [url: string, text: string])[];

/** Input of a thread. No keys; the caller signs. */
export type ThreadTask =
  | {
      kind: 'hashes';
      documents: readonly object[];
      /** Beside those that every thread has. */
      contexts: OwnContexts;
    }
  | ({ kind: 'claims'; contexts: OwnContexts } & ClaimsToCheck)
  | { kind: 'contexts'; texts: readonly string[]; limits: ContextLimits };

/** Errors lose their class between threads. */
export interface Fault {
  code: string;
  message: string;
}

/** SHA-256 of the RDFC-1.0 form of each document, or the error. */
export type HashesResult = { hashes: Uint8Array[] } | { fault: Fault };

/** A credential without claims, and the claims of its subject. */
export interface ClaimsToCheck {
  document: Readonly<Record<string, unknown>>;
  claims: Readonly<Record<string, unknown>>;
}

/** A claim that cannot be expressed; nothing when all can be. */
export type ClaimsResult = { claim?: string; fault?: Fault | 'nestedArrays' };

/** Limits of one context document. */
export interface ContextLimits {
  /** Most JSON values. */
  values: number;
  /** Most levels. */
  depth: number;
}

export type ContextResult =
  | {
      /** JSON values in the document. */
      values: number;
      /** Addresses of other contexts that it refers to, each once. */
      references: string[];
    }
  | { fault: 'json' | 'context' | 'repeats' | keyof ContextLimits };

export type ThreadResult = HashesResult | ClaimsResult | ContextResult[];

/** The address is none of the given contexts; contexts are never fetched. */
class UnknownContext extends Error {
  override readonly name = 'UnknownContext';
}

/** `shared` documents are the same at each call: the processor caches the parsed ones. */
const contextLoader = (shared: ReadonlyMap<string, object>, contexts: ReadonlyMap<string, string>): DocumentLoader => {
  const parsed = new Map<string, object>();
  return async (url) => {
    const document = shared.get(url);
    if (document) return { contextUrl: null, documentUrl: url, document, tag: 'static' };
    const text = contexts.get(url);
    if (text === undefined) throw new UnknownContext(`context ${url} is not available`);
    if (!parsed.has(url)) parsed.set(url, JSON.parse(text) as object);
    return { contextUrl: null, documentUrl: url, document: parsed.get(url)! };
  };
};

type CanonicalForm = (document: object) => Promise<string>;

/**
 * @param contexts beside the shared ones. The parsed ones are cached for this function only: the same text can mean something else when a
 * context that it imports has another version
 */
const canonicalFormWith = (
  shared: ReadonlyMap<string, object>,
  contexts: ReadonlyMap<string, string>,
): CanonicalForm => {
  const documentLoader = contextLoader(shared, contexts);
  const resolved: ResolvedContexts | undefined = contexts.size > 0 ? new Map() : undefined;
  return (document) =>
    jsonld.canonize(document, {
      documentLoader,
      ...(resolved && { contextResolver: new ContextResolver({ sharedCache: resolved }) }),
      safe: true,
      base: null,
      // Verifiers use this value; without it, literals with a direction would differ.
      rdfDirection: 'i18n-datatype',
      canonizeOptions: { algorithm: 'RDFC-1.0' },
    });
};

/** The RDFC-1.0 form of a document without contexts of a tenant. */
export const canonicalFormOf = (document: object, shared: ReadonlyMap<string, object>): Promise<string> =>
  canonicalFormWith(shared, new Map())(document);

/** The fault of a document: in safe mode a value would be dropped or read as something else. `undefined` for other errors. */
const faultOf = (error: unknown): Fault | undefined => {
  if (!(error instanceof Error)) return undefined;
  if (/maximum deep iterations/i.test(error.message)) return { code: 'ambiguous blank nodes', message: error.message };
  // A context that refers to itself in its own way.
  if (error instanceof RangeError) return { code: 'nested too deep', message: error.message };
  // The processor assumes the type of some keywords' values.
  if (error instanceof TypeError) return { code: 'invalid context', message: error.message };
  if (!error.name.startsWith('jsonld.')) return undefined;
  const { details } = error as { details?: { code?: string; event?: { code?: string } } };
  return { code: details?.event?.code ?? details?.code ?? error.message, message: error.message };
};

/** The fault of what is tried, if it has one. */
const faultIn = async (attempt: () => Promise<unknown>): Promise<Fault | undefined> => {
  try {
    await attempt();
    return undefined;
  } catch (error) {
    const fault = faultOf(error);
    if (!fault) throw error;
    return fault;
  }
};

export const hashDocuments = async (
  documents: readonly object[],
  shared: ReadonlyMap<string, object>,
  contexts: ReadonlyMap<string, string>,
): Promise<HashesResult> => {
  const canonicalForm = canonicalFormWith(shared, contexts);
  const hashes: Uint8Array[] = [];
  const fault = await faultIn(async () => {
    for (const document of documents) hashes.push(hash('sha256', await canonicalForm(document), 'buffer'));
  });
  return fault ? { fault } : { hashes };
};

/** True when an array somewhere inside is a member of an array. */
export const hasNestedArray = (value: unknown): boolean =>
  typeof value === 'object' && value !== null
    ? (Array.isArray(value) && value.some(Array.isArray)) || Object.values(value).some(hasNestedArray)
    : false;

const isObject = (value: unknown): value is object => typeof value === 'object' && value !== null;

/** True when an object with an array is a member of an array somewhere inside: it is an array in an array where a context makes it a set. */
export const mayHaveSet = (value: unknown): boolean =>
  isObject(value) &&
  ((Array.isArray(value) &&
    value.some((entry) => isObject(entry) && !Array.isArray(entry) && Object.values(entry).some(Array.isArray))) ||
    Object.values(value).some(mayHaveSet));

/** Terms that may be another name of `@set` (JSON-LD 1.1 §4.1.5), directly or by another such term. Those of all contexts, whatever their scope. */
const aliasesOfSet = (texts: Iterable<string>): ReadonlySet<string> => {
  const definitions: [term: string, id: unknown][] = [];
  const collect = (value: unknown): void => {
    if (!isObject(value)) return;
    for (const [name, member] of Object.entries(value)) {
      if (!Array.isArray(value) && !name.startsWith('@'))
        definitions.push([name, isObject(member) ? (member as { '@id'?: unknown })['@id'] : member]);
      collect(member);
    }
  };
  // Characters of the keyword may be escaped.
  for (const text of texts) if (/@set|\\u/.test(text)) collect(JSON.parse(text));
  const aliases = new Set(['@set']);
  for (let known = 0; known < aliases.size;) {
    known = aliases.size;
    for (const [term, id] of definitions) if (typeof id === 'string' && aliases.has(id)) aliases.add(term);
  }
  return aliases;
};

/** An object that may be a set: a member that may be another name of `@set`, and at most one more, which is no object (`@index`). */
const membersOfSet = (value: unknown, aliases: ReadonlySet<string>): unknown[] | undefined => {
  if (!isObject(value) || Array.isArray(value)) return undefined;
  const members = Object.entries(value);
  const [, set] = members.find(([name]) => aliases.has(name)) ?? [];
  if (!Array.isArray(set) || members.length > 2) return undefined;
  return members.filter(([, member]) => isObject(member)).length === 1 ? (set as unknown[]) : undefined;
};

/**
 * Each outermost array of arrays in a value, as it is and flattened, with what decides how it is read: the members around it, and of their
 * siblings those that can be a type. An object in an array that may be a set is one of its arrays, each tried alone.
 */
function* nestedArraysIn(
  value: object,
  within: (inner: unknown) => unknown,
  aliases: ReadonlySet<string>,
): Generator<{ nested: unknown; flat: unknown }> {
  if (Array.isArray(value)) {
    const flat = value.flat(Infinity) as unknown[];
    if (value.some(Array.isArray)) yield { nested: within(value), flat: within(flat) };
    for (const entry of flat) {
      const members = membersOfSet(entry, aliases);
      if (members)
        yield { nested: within([entry, 'urn:example:other']), flat: within([...members, 'urn:example:other']) };
      if (isObject(entry)) yield* nestedArraysIn(entry, (inner) => within([inner]), aliases);
    }
    return;
  }
  const members = Object.entries(value);
  const plain = Object.fromEntries(
    members.filter(([, member]) => !isObject(member) || (Array.isArray(member) && !member.some(isObject))),
  );
  for (const [name, member] of members)
    if (isObject(member)) yield* nestedArraysIn(member, (inner) => within({ ...plain, [name]: inner }), aliases);
}

/**
 * The first claim that a credential cannot express: its values would be dropped or read as something else, or its arrays in arrays would be
 * read as one array, so that the proof remained valid when their values were exchanged.
 */
export const findClaimFault = async (
  { document, claims }: ClaimsToCheck,
  shared: ReadonlyMap<string, object>,
  contexts: ReadonlyMap<string, string>,
): Promise<ClaimsResult> => {
  const canonicalForm = canonicalFormWith(shared, contexts);
  const entries = Object.entries(claims);
  const withClaims = (of: readonly (readonly [string, unknown])[]): object => ({
    ...document,
    credentialSubject: { ...Object.fromEntries(of), ...(document['credentialSubject'] as object) },
  });
  const faultOfFirst = (count: number) => faultIn(() => canonicalForm(withClaims(entries.slice(0, count))));

  let fault = await faultOfFirst(entries.length);
  if (fault) {
    // The last claim of the shortest beginning that has a fault.
    let [valid, faulty] = [0, entries.length];
    while (faulty - valid > 1) {
      const middle = (valid + faulty) >> 1;
      const found = await faultOfFirst(middle);
      if (found) [faulty, fault] = [middle, found];
      else valid = middle;
    }
    return { claim: entries[faulty - 1]?.[0], fault };
  }
  const aliases = aliasesOfSet(contexts.values());
  for (const [claim, value] of entries) {
    if (!hasNestedArray(value) && !(aliases.size > 1 && mayHaveSet(value))) continue;
    const inClaim = (inner: unknown) => withClaims([[claim, inner]]);
    for (const { nested, flat } of nestedArraysIn(value as object, inClaim, aliases)) {
      let isSame = false;
      const ofArray = await faultIn(async () => {
        isSame = (await canonicalForm(nested as object)) === (await canonicalForm(flat as object));
      });
      if (ofArray || isSame) return { claim, fault: ofArray ?? 'nestedArrays' };
    }
  }
  return {};
};

class Exceeded extends Error {
  readonly limit: keyof ContextLimits;
  constructor(limit: keyof ContextLimits) {
    super(limit);
    this.limit = limit;
  }
}

/** Addresses of other contexts that a context refers to: as members of its context, scoped, or imported. */
const collectReferences = (context: unknown, into: Set<string>): void => {
  if (typeof context === 'string') into.add(context);
  if (Array.isArray(context)) for (const entry of context) collectReferences(entry, into);
  else if (isObject(context))
    for (const [key, value] of Object.entries(context)) {
      if (key === '@import') {
        if (typeof value === 'string') into.add(value);
      } else if (key === '@context') collectReferences(value, into);
      else if (isObject(value) && Object.hasOwn(value, '@context'))
        collectReferences((value as { '@context': unknown })['@context'], into);
    }
};

/**
 * Properties of a context document before it is processed. A list of contexts must not name one twice: nested lists would multiply, so that
 * a few values could expand to millions of contexts. In one pass: equal values have the same number.
 */
export const inspectContext = (text: string, limits: ContextLimits): ContextResult => {
  let document: unknown;
  try {
    document = JSON.parse(text);
  } catch {
    return { fault: 'json' };
  }
  if (!isObject(document) || !Object.hasOwn(document, '@context')) return { fault: 'context' };
  const context = (document as { '@context': unknown })['@context'];
  const numbers = new Map<string, number>();
  let values = 0;
  let repeats = false;
  const numberOf = (value: unknown, level: number, isContext: boolean): number => {
    if (level > limits.depth) throw new Exceeded('depth');
    if (++values > limits.values) throw new Exceeded('values');
    let key: string;
    if (Array.isArray(value)) {
      const entries = value.map((entry) => numberOf(entry, level + 1, isContext));
      if (isContext && new Set(entries).size < entries.length) repeats = true;
      key = `[${entries.join()}]`;
    } else if (isObject(value)) {
      const members = Object.entries(value).map(
        ([name, member]) => `${JSON.stringify(name)}:${numberOf(member, level + 1, isContext || member === context)}`,
      );
      key = `{${members.join()}}`;
    } else key = JSON.stringify(value);
    const known = numbers.get(key) ?? numbers.size;
    numbers.set(key, known);
    return known;
  };
  try {
    numberOf(document, 1, false);
  } catch (error) {
    if (error instanceof Exceeded) return { fault: error.limit };
    throw error;
  }
  if (repeats) return { fault: 'repeats' };
  const references = new Set<string>();
  collectReferences(context, references);
  return { values, references: [...references] };
};

/** Empty where this module is imported by the thread that starts workers. */
const shared = new Map(isMainThread ? [] : (workerData as SharedContexts));

/** The task of a worker thread; see canonicalization.ts. */
export default async (task: ThreadTask): Promise<ThreadResult> => {
  switch (task.kind) {
    case 'hashes':
      return hashDocuments(task.documents, shared, new Map(task.contexts));
    case 'claims':
      return findClaimFault(task, shared, new Map(task.contexts));
    case 'contexts':
      return task.texts.map((text) => inspectContext(text, task.limits));
  }
};
