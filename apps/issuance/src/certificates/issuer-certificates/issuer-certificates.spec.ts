import { given } from '@attestry/event-store';
import {
  addSigner,
  caPeriod,
  destroyReplacedKeys,
  endsTooSoon,
  GUARANTEED_DAYS,
  isSignerDue,
  signerPeriod,
  signingCa,
  validSigner,
} from './issuer-certificates.decisions.js';
import type { IssuerCertificatesEvent, StoredCertificate, StoredSigner } from './issuer-certificates.events.js';
import { issuerCertificates, type IssuerCertificatesState } from './issuer-certificates.state.js';

const [own, custom] = ['http://acme.localhost:8080', 'https://id.acme.example'];
const at = (time: string) => new Date(time);
const iso = ({ notBefore, notAfter, dueAt }: ReturnType<typeof caPeriod>) => ({
  notBefore: notBefore.toISOString(),
  notAfter: notAfter.toISOString(),
  dueAt: dueAt.toISOString(),
});
const caOf = (keyId: string, from: string): StoredCertificate => ({
  keyId,
  certificate: `der of ${keyId}`,
  fingerprint: keyId,
  ...iso(caPeriod(at(from))),
});
const signerOf = (keyId: string, from: string, issuer = own): StoredSigner => ({
  keyId,
  certificate: `der of ${keyId}`,
  fingerprint: keyId,
  ...iso(signerPeriod(at(from))),
  issuer,
});
const caCreated = (data: StoredCertificate): IssuerCertificatesEvent => ({
  type: 'IssuerCaCreated',
  data,
});
const signerCreated = (data: StoredSigner): IssuerCertificatesEvent => ({
  type: 'IssuerSignerCreated',
  data,
});
const keyDestroyed = (keyId: string, issuer = own): IssuerCertificatesEvent => ({
  type: 'IssuerSignerKeyDestroyed',
  data: { issuer, keyId },
});
const BEGIN = '2026-01-01T10:20:30.000Z';
const first = [caCreated(caOf('ca1', BEGIN)), signerCreated(signerOf('s1', BEGIN))];
const stateOf = (events: IssuerCertificatesEvent[]): IssuerCertificatesState =>
  events.reduce(issuerCertificates.evolve, issuerCertificates.initial);

describe('periods of certificates', () => {
  it('begin with the hour; the CA is used for half of its life, a signer for a year', () => {
    expect(iso(caPeriod(at(BEGIN)))).toEqual({
      notBefore: '2026-01-01T10:00:00.000Z',
      notAfter: '2046-01-16T10:00:00.000Z',
      dueAt: '2035-12-30T10:00:00.000Z',
    });
    expect(iso(signerPeriod(at(BEGIN)))).toEqual({
      notBefore: '2026-01-01T10:00:00.000Z',
      notAfter: '2036-01-09T10:00:00.000Z',
      dueAt: '2027-01-01T10:00:00.000Z',
    });
  });

  it('leave every signer its full life under a CA that signs', () => {
    const ca = caPeriod(at(BEGIN));
    expect(signerPeriod(new Date(ca.dueAt.getTime() - 1)).notAfter <= ca.notAfter).toBe(true);
  });

  it('leave a credential of nine years within its signer, also when its renewal is five days late [T620]', () => {
    const { dueAt, notAfter } = signerPeriod(at(BEGIN));
    const late = new Date(dueAt.getTime() + 5 * 86_400_000);
    expect(GUARANTEED_DAYS).toBeGreaterThanOrEqual(3288);
    expect([endsTooSoon({ notAfter }, late), endsTooSoon({ notAfter }, new Date(late.getTime() + 1))]).toEqual([
      ...[false, true],
    ]);
  });
});

describe('issuer certificates', () => {
  it('begin with a CA and the signer of the first issuer', () => {
    const signer = signerOf('s1', BEGIN);
    const ca = caOf('ca1', BEGIN);
    given(issuerCertificates, [])
      .when((state) => addSigner(state, { ca, signer, now: at(BEGIN) }))
      .then(first);
    given(issuerCertificates, first).thenState({ authorities: [ca], signers: [signer] });
  });

  it('keep the signer that another request made first', () =>
    given(issuerCertificates, first)
      .when((state) => addSigner(state, { signer: signerOf('s2', BEGIN), now: at(BEGIN) }))
      .then([]));

  it('have a signer for each issuer', () => {
    const signer = signerOf('s2', BEGIN, custom);
    given(issuerCertificates, first)
      .when((state) => addSigner(state, { signer, now: at(BEGIN) }))
      .then([signerCreated(signer)]);
    const state = stateOf([...first, signerCreated(signer)]);
    expect(validSigner(state, own, at(BEGIN))?.keyId).toBe('s1');
    expect(validSigner(state, custom, at(BEGIN))?.keyId).toBe('s2');
    expect(validSigner(state, 'https://other.example', at(BEGIN))).toBeUndefined();
  });

  it('sign with the newest signer, and with one that is due until its end', () => {
    const state = stateOf(first);
    expect(isSignerDue(state, own, at('2027-01-01T09:59:59Z'))).toBe(false);
    expect(isSignerDue(state, own, at('2027-01-01T10:00:00Z'))).toBe(true);
    expect(validSigner(state, own, at('2036-01-09T09:59:59Z'))?.keyId).toBe('s1');
    expect(validSigner(state, own, at('2036-01-09T10:00:00Z'))).toBeUndefined();
    const renewed = stateOf([...first, signerCreated(signerOf('s2', '2027-01-02T00:00:00Z'))]);
    expect(validSigner(renewed, own, at('2027-01-02T00:00:00Z'))?.keyId).toBe('s2');
  });

  it('have another CA from the time at which the first is due', () => {
    const state = stateOf(first);
    expect(signingCa(issuerCertificates.initial, at(BEGIN))).toBeUndefined();
    expect(signingCa(state, at('2035-12-30T09:59:59Z'))?.keyId).toBe('ca1');
    expect(signingCa(state, at('2035-12-30T10:00:00Z'))).toBeUndefined();
  });

  it('leave out those that have ended when one is made', () => {
    const later = '2046-02-01T00:00:00.000Z';
    const events = [caCreated(caOf('ca2', later)), signerCreated(signerOf('s2', later))];
    const state = stateOf([...first, keyDestroyed('s1'), ...events]);
    expect(state.authorities.map(({ keyId }) => keyId)).toEqual(['ca2']);
    expect(state.signers.map(({ keyId }) => keyId)).toEqual(['s2']);
    // Not a signer whose key is still in the vault.
    expect(stateOf([...first, ...events]).signers.map(({ keyId }) => keyId)).toEqual(['s1', 's2']);
  });

  it('have the private key of a signer destroyed a day after another one has replaced it', () => {
    const replaced = [...first, signerCreated(signerOf('s2', '2027-01-02T10:20:00Z'))];
    const due = '2027-01-03T10:00:00.000Z';
    for (const [events, time] of [
      [first, '2029-01-01T00:00:00.000Z'],
      [replaced, '2027-01-03T09:59:59.999Z'],
    ] as const)
      given(issuerCertificates, [...events])
        .when((state) => destroyReplacedKeys(state, at(time)))
        .then([]);
    given(issuerCertificates, replaced)
      .when((state) => destroyReplacedKeys(state, at(due)))
      .then([keyDestroyed('s1')]);
    given(issuerCertificates, [...replaced, keyDestroyed('s1')])
      .when((state) => destroyReplacedKeys(state, at(due)))
      .then([]);
    given(issuerCertificates, [...replaced, keyDestroyed('s1')]).thenState({
      authorities: [caOf('ca1', BEGIN)],
      signers: [{ ...signerOf('s1', BEGIN), isKeyDestroyed: true }, signerOf('s2', '2027-01-02T10:20:00Z')],
    });
  });

  it('have the keys of signers destroyed by issuer, and every one that was replaced', () => {
    const events = [
      ...[...first, signerCreated(signerOf('c1', BEGIN, custom))],
      ...[signerCreated(signerOf('s2', '2027-01-02T00:00:00Z')), signerCreated(signerOf('s3', '2028-01-03T00:00:00Z'))],
    ];
    const destroyed = (time: string) => destroyReplacedKeys(stateOf(events), at(time)).map(({ data }) => data.keyId);
    expect(destroyed('2028-01-03T23:59:59Z')).toEqual(['s1']);
    expect(destroyed('2028-01-04T00:00:00Z')).toEqual(['s1', 's2']);
  });
});
