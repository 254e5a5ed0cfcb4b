import { generateKeyPairSync } from 'node:crypto';
import { given, stateAfter } from '@attestry/event-store';
import type { PublicJwk } from '@attestry/keys';
import { didWebDocument } from './did-document.js';
import { awaitsDocument, proofMethodOf, seenPublished, updateDocument } from './did.decisions.js';
import type { DidEvent } from './did.events.js';
import { did, type ActiveDid, type DidState } from './did.state.js';
import { hasMultikeys, publishesMultikeys, withMultikeys, withoutMultikeys } from './multikeys.js';

const jwkOf = (curve: 'P-256' | 'Ed25519') =>
  (curve === 'P-256'
    ? generateKeyPairSync('ec', { namedCurve: 'P-256' })
    : generateKeyPairSync('ed25519')
  ).publicKey.export({
    format: 'jwk',
  }) as PublicJwk;
const name = 'did:web:acme.example';
const made = didWebDocument(
  name,
  (['P-256', 'Ed25519'] as const).map((algorithm) => ({ keyId: algorithm, algorithm, publicJwk: jwkOf(algorithm) })),
);
const before = withoutMultikeys(made.document);
const at = new Date('2026-01-01T00:00:00Z');
const time = at.toISOString();
const createdWith = (
  document: Record<string, unknown>,
  registrationStatus: 'COMPLETED' | 'PROCESSING' = 'COMPLETED',
  method: 'web' | 'key' = 'web',
): DidEvent => ({
  type: 'DidCreated',
  data: { did: name, method, keys: made.keys, document, registrationStatus, registered: at.getTime() },
});
const updated: DidEvent = { type: 'DidDocumentUpdated', data: { document: made.document, updatedAt: time } };
const seen: DidEvent = { type: 'DidMultikeysSeen', data: { seenAt: time } };
const [method] = made.keys.map(({ didDocumentKeyId }) => didDocumentKeyId) as [string];
const after = (...events: DidEvent[]) => stateAfter(did, events) as ActiveDid;

describe('the Multikeys of a document [T788]', () => {
  it('are added once, and taken away again', () => {
    expect(hasMultikeys(before)).toBe(false);
    expect(withMultikeys(before)).toEqual(made.document);
    expect(withMultikeys(made.document)).toBe(made.document);
    expect(withoutMultikeys(before)).toEqual(before);
  });

  it('are published where each is there unchanged and asserts', () => {
    expect(publishesMultikeys({ ...made.document, service: [] }, made.document)).toBe(true);
    expect(publishesMultikeys(before, made.document)).toBe(false);
    expect(publishesMultikeys(made.document, before)).toBe(false);
    expect(publishesMultikeys({ ...made.document, assertionMethod: [] }, made.document)).toBe(false);
    const others = withMultikeys({ ...before, verificationMethod: [] });
    for (const wrong of [others, {}, { verificationMethod: [null], assertionMethod: [null] }])
      expect(publishesMultikeys(wrong, made.document)).toBe(false);
    for (const wrong of [{}, { '@context': [], verificationMethod: [null, 1, {}], assertionMethod: [null] }])
      expect(withoutMultikeys(wrong)).toEqual(wrong);
  });
});

describe('the method of a proof [T789]', () => {
  it('is the Multikey once it is published', () => {
    expect(proofMethodOf(after(createdWith(made.document)), method)).toBe(`${method}-mk`);
    expect(proofMethodOf(after(createdWith(made.document, 'PROCESSING')), method)).toBe(method);
    expect(proofMethodOf(after(createdWith(made.document, 'PROCESSING'), seen), method)).toBe(`${method}-mk`);
    expect(proofMethodOf(after(createdWith(before)), method)).toBe(method);
    expect(proofMethodOf(after(createdWith(before), updated), method)).toBe(method);
    expect(proofMethodOf(after(createdWith(before), updated, seen), method)).toBe(`${method}-mk`);
    expect(proofMethodOf(after(createdWith(made.document)), `${name}#other`)).toBe(`${name}#other`);
    expect(proofMethodOf({ status: 'deleted' }, method)).toBe(method);
  });

  it('awaits the document of another host', () => {
    const see = (isPublished: boolean, hasThem: boolean) => (state: DidState) =>
      seenPublished(state, { isPublished, hasMultikeys: hasThem }, at);
    const publication: DidEvent = { type: 'DidPublicationSeen', data: { seenAt: time } };
    const foreign = createdWith(made.document, 'PROCESSING');
    given(did, [foreign]).when(see(true, true)).then([publication, seen]);
    given(did, [foreign]).when(see(true, false)).then([publication]);
    // Another document, which was not found before: its other methods are not ours.
    given(did, [foreign]).when(see(false, true)).then([]);
    given(did, [foreign, publication]).when(see(false, true)).then([seen]);
    given(did, [foreign, publication, seen]).when(see(true, true)).then([]);
    expect(
      [after(foreign), after(foreign, publication), after(foreign, publication, seen)].map(awaitsDocument),
    ).toEqual([true, true, false]);
    expect([after(createdWith(before)), after(createdWith(before), updated)].map(awaitsDocument)).toEqual([
      false,
      true,
    ]);
  });
});

describe('an update of a document [T790]', () => {
  it('adds Multikeys, which are published at once on the own host; again it changes nothing', () => {
    const update = (isOwnHost: boolean) => (state: DidState) => updateDocument(state, isOwnHost, at);
    given(did, [createdWith(before)])
      .when(update(true))
      .then([updated, seen]);
    given(did, [createdWith(before)])
      .when(update(false))
      .then([updated]);
    given(did, [createdWith(before), updated])
      .when(update(true))
      .then([]);
    given(did, [createdWith(made.document)])
      .when(update(true))
      .then([]);
    expect(after(createdWith(before), updated).document).toEqual(made.document);
  });

  it('is refused for a did:key and a DID that is not there', () => {
    given(did, [createdWith(before, 'COMPLETED', 'key')])
      .when((state: DidState) => updateDocument(state, false, at))
      .thenThrows('BadRequest');
    given(did, [])
      .when((state: DidState) => updateDocument(state, false, at))
      .thenThrows('NotFound');
  });
});
