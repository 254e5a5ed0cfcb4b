import type { AppError, IacaRequest } from '@attestry/contracts';
import { given, stateAfter } from '@attestry/event-store';
import { iacaView, signerView } from './certificate-views.js';
import { destroyEndedKeys, keysDestroyedBy } from './destroyed-keys.decisions.js';
import { beginOfSigner, findListSigner, findSigner, isSignerDue, signerDueAt } from './find-signer.decisions.js';
import { iacasToPublish, recordDomainChange } from './held-signers.decisions.js';
import {
  checkUnmanaged,
  countryOf,
  createIaca,
  deleteIaca,
  iacaContent,
  publishedIacas,
  requireUnmanaged,
  updateIaca,
} from './iaca.decisions.js';
import { crlPeriod, isCrlDue, isUploadDue, publishUploadedCrl, signsCrls } from './revocation-list.decisions.js';
import {
  checkSignerRequest,
  deleteSigner,
  publishedSigners,
  requestSigner,
  requireSigner,
  revokeSigner,
  updateSigner,
} from './signer.decisions.js';
import type {
  Documents,
  MobileCertificatesEvent,
  StoredCrl,
  StoredIaca,
  StoredX509,
} from './mobile-certificates.events.js';
import { mobileCertificates } from './mobile-certificates.state.js';

const BEGIN = '2026-01-01T10:00:00.000Z';
const END = '2036-01-01T10:00:00.000Z';
const at = (time: string) => new Date(time);
const now = at('2026-01-02T00:00:00.000Z');
const after = (days: number, from = BEGIN) => new Date(Date.parse(from) + days * 86_400_000).toISOString();

const x509 = (name: string, notBefore = BEGIN, notAfter = END): StoredX509 => ({
  certificate: Buffer.from(`der of ${name}`).toString('base64'),
  fingerprint: `fingerprint of ${name}`,
  serialNumber: `serial of ${name}`,
  data: { commonName: name, country: 'AU', notBefore, notAfter },
});
const managed = (iacaId: string, notBefore?: string, notAfter?: string): StoredIaca => ({
  iacaId,
  keyId: `key of ${iacaId}`,
  ...x509(iacaId, notBefore, notAfter),
});
const unmanaged = (iacaId: string): StoredIaca => ({ iacaId, ...x509(iacaId) });
const created = (data: StoredIaca): MobileCertificatesEvent => ({ type: 'IacaCreated', data });
const updated = (iacaId: string, active: boolean): MobileCertificatesEvent => ({
  type: 'IacaUpdated',
  data: { iacaId, active },
});
const active = (iaca: StoredIaca) => [created(iaca), updated(iaca.iacaId, true)];
const crlOf = (iacaId: string, number = '1', more: Partial<StoredCrl> = {}): StoredCrl => ({
  iacaId,
  number,
  crl: `crl ${number}`,
  thisUpdate: BEGIN,
  nextUpdate: after(30),
  revoked: [],
  ...more,
});
const published = (data: StoredCrl): MobileCertificatesEvent => ({ type: 'CrlPublished', data });
const issued = (
  id: string,
  {
    from = BEGIN,
    documents = 'mDL',
    iacaId = 'm',
    ...more
  }: { from?: string; documents?: Documents; iacaId?: string } = {},
): MobileCertificatesEvent => ({
  type: 'DocumentSignerIssued',
  data: {
    documentSignerId: id,
    iacaId,
    documents,
    keyId: `key of ${id}`,
    ...x509(id, from, after(457, from)),
    signsUntil: after(30, from),
    dueAt: after(29, from),
    ...more,
  },
});
const requested = (id: string, iacaId = 'u'): MobileCertificatesEvent => ({
  type: 'DocumentSignerRequested',
  data: { documentSignerId: id, iacaId, keyId: `key of ${id}`, csr: `csr of ${id}` },
});
const certified = (
  id: string,
  { changedAt = BEGIN, notAfter = after(400), isActive = true } = {},
): MobileCertificatesEvent => ({
  type: 'DocumentSignerUpdated',
  data: { documentSignerId: id, active: isActive, issued: x509(id, BEGIN, notAfter), keyId: `key of ${id}`, changedAt },
});
const revoked = (documentSignerId: string, revokedAt = BEGIN): MobileCertificatesEvent => ({
  type: 'DocumentSignerRevoked',
  data: { documentSignerId, revokedAt },
});
const destroyed = (...of: string[]): MobileCertificatesEvent => ({
  type: 'CertificateKeysDestroyed',
  data: { destroyedKeys: of.map((id) => `key of ${id}`) },
});
const stateOf = (events: MobileCertificatesEvent[]) => stateAfter(mobileCertificates, events);
const faultsOf = (work: () => unknown): [param: string, msg: string][] => {
  try {
    work();
  } catch (error) {
    return (error as AppError).details!.map(({ param, msg }) => [param, msg]);
  }
  throw new Error('it was not refused');
};
const refusal = (work: () => unknown): string => {
  try {
    work();
  } catch (error) {
    return `${(error as AppError).code}: ${(error as AppError).message}`;
  }
  throw new Error('it was not refused');
};

describe('the content of a managed IACA', () => {
  const defaults = { domain: 'acme.example', region: 'eu01' };
  const content = (request: IacaRequest = {}, facts = defaults) =>
    iacaContent(request, facts, at('2026-01-01T10:20:30.400Z'));

  it('has defaults: name of the domain, country of the region, ten years from the begin of the hour', () =>
    expect(content()).toEqual({
      commonName: 'acme.example IACA',
      country: 'DE',
      notBefore: at('2026-01-01T10:00:00Z'),
      notAfter: at('2036-01-01T10:00:00Z'),
    }));

  it('is what the request says, in whole seconds', () => {
    const request = {
      commonName: 'Roads (NSW)',
      country: 'AU',
      stateOrProvinceName: 'AU-NSW',
      notBefore: '2026-01-01T10:20:30.900Z',
      notAfter: '2046-01-01T10:20:30Z',
    };
    expect(content(request)).toEqual({
      ...request,
      notBefore: at('2026-01-01T10:20:30Z'),
      notAfter: at('2046-01-01T10:20:30Z'),
    });
  });

  it('cuts the default name to 64 characters', () =>
    expect(content({}, { ...defaults, domain: `${'a'.repeat(60)}.example` }).commonName).toBe(`${'a'.repeat(60)}.exa`));

  it.each([
    ['au01', 'AU'],
    ['CA01', 'CA'],
    ['eu01', 'DE'],
    ['us02', 'US'],
    ['local', 'ZZ'],
    ['nz01', undefined],
    ['1', undefined],
  ])('has in region %s the country %s', (region, country) => expect(countryOf(region)).toBe(country));

  it.each<[IacaRequest, string, string]>([
    [
      { stateOrProvinceName: 'AU-NSW' },
      'stateOrProvinceName',
      'must be a code of the country DE, which begins with DE-',
    ],
    [{ notBefore: '2026-01-01T10:20:29Z' }, 'notBefore', 'must not be in the past'],
    [{ notAfter: '2026-01-01T10:00:00Z' }, 'notAfter', 'must be later than notBefore'],
    [{ notAfter: '2046-01-01T10:00:01Z' }, 'notAfter', 'must be at most 20 years after notBefore'],
  ])('of %j is refused at %s: %s', (request, param, msg) =>
    expect(faultsOf(() => content(request))).toEqual([[param, msg]]),
  );

  it('needs a country where the region has none, and reports all faults', () =>
    expect(faultsOf(() => content({ notBefore: '2020-01-01T00:00:00Z' }, { ...defaults, region: 'nz01' }))).toEqual([
      ['country', 'is required: the region nz01 of the tenant has no default'],
      ['notBefore', 'must not be in the past'],
    ]));

  it('is not given beside a certificate', () => {
    checkUnmanaged({ certificatePem: 'pem' });
    expect(faultsOf(() => checkUnmanaged({ certificatePem: 'pem', country: 'AU', notAfter: END }))).toEqual([
      ['country', 'must not be given with certificatePem'],
      ['notAfter', 'must not be given with certificatePem'],
    ]);
  });
});

describe('an IACA', () => {
  it('is created inactive; a managed one with its CRL', () => {
    const [iaca, crl] = [managed('m'), crlOf('m')];
    given(mobileCertificates, [])
      .when((state) => createIaca(state, { iaca, crl }))
      .then([created(iaca), published(crl)]);
    given(mobileCertificates, [created(iaca), published(crl)]).thenState({
      iacas: [{ ...iaca, active: false, crl, revoked: [] }],
      signers: [],
    });
    given(mobileCertificates, [])
      .when((state) => createIaca(state, { iaca: unmanaged('u') }))
      .then([created(unmanaged('u'))]);
  });

  it('is one of three at most, and none twice', () => {
    const three = [created(managed('a')), created(managed('b')), created(unmanaged('c'))];
    expect(refusal(() => createIaca(stateOf(three), { iaca: managed('d') }))).toBe(
      'Conflict: A tenant can have at most 3 IACAs',
    );
    const again = { ...unmanaged('d'), fingerprint: unmanaged('u').fingerprint };
    expect(faultsOf(() => createIaca(stateOf([created(unmanaged('u'))]), { iaca: again }))).toEqual([
      ['certificatePem', 'must not be the certificate of another IACA of the tenant'],
    ]);
    given(mobileCertificates, [...three, { type: 'IacaDeleted', data: { iacaId: 'a' } }])
      .when((state) => createIaca(state, { iaca: managed('d') }))
      .then([created(managed('d'))]);
  });

  it('is activated and deactivated until it ends', () => {
    const update =
      (isActive: boolean, time = now) =>
      (state: ReturnType<typeof stateOf>) =>
        updateIaca(state, { iacaId: 'm', active: isActive }, time);
    given(mobileCertificates, [created(managed('m'))])
      .when(update(true))
      .then([updated('m', true)]);
    given(mobileCertificates, active(managed('m')))
      .when(update(true))
      .then([]);
    given(mobileCertificates, active(managed('m')))
      .when(update(false, at(END)))
      .then([updated('m', false)]);
    expect(faultsOf(() => update(true, at(END))(stateOf([created(managed('m'))])))).toEqual([
      ['active', `must be false, because the certificate ended at ${END}`],
    ]);
    given(mobileCertificates, []).when(update(true)).thenThrows('NotFound');
  });

  it('is deleted with its signers and their keys', () => {
    const events = [...active(managed('m')), issued('s'), created(unmanaged('u')), requested('r')];
    const deleted: MobileCertificatesEvent = { type: 'IacaDeleted', data: { iacaId: 'm' } };
    given(mobileCertificates, events)
      .when((state) => deleteIaca(state, 'm'))
      .then([deleted, destroyed('m', 's')]);
    const other: MobileCertificatesEvent = { type: 'IacaDeleted', data: { iacaId: 'u' } };
    given(mobileCertificates, events)
      .when((state) => deleteIaca(state, 'u'))
      .then([other, destroyed('r')]);
    expect(keysDestroyedBy([deleted, destroyed('m', 's'), destroyed('r')])).toEqual([
      'key of m',
      'key of s',
      'key of r',
    ]);
    // Without those that were destroyed before.
    given(mobileCertificates, [...events, destroyed('s', 'r')])
      .when((state) => deleteIaca(state, 'm'))
      .then([deleted, destroyed('m')]);
    given(mobileCertificates, [...events, destroyed('s', 'r')])
      .when((state) => deleteIaca(state, 'u'))
      .then([other]);
    const state = stateOf([...events, deleted]);
    expect([state.iacas.map(({ iacaId }) => iacaId), state.signers.map((one) => one.documentSignerId)]).toEqual([
      ['u'],
      ['r'],
    ]);
    given(mobileCertificates, [...events, deleted])
      .when((after) => deleteIaca(after, 'm'))
      .thenThrows('NotFound');
  });

  it('is listed for verifiers while it is active, also before it begins', () => {
    const later = managed('later', '2030-01-01T00:00:00.000Z');
    const state = stateOf([...active(managed('m')), created(managed('inactive')), ...active(later)]);
    expect(publishedIacas(state, now)).toEqual([managed('m').certificate, later.certificate]);
    expect(publishedIacas(state, at(END))).toEqual([]);
  });

  it('is shown with its CRL', () => {
    const [shown] = stateOf([created(managed('m')), published(crlOf('m', '7'))]).iacas;
    expect(iacaView(shown!, now)).toEqual({
      id: 'm',
      active: false,
      certificatePem: '-----BEGIN CERTIFICATE-----\nZGVyIG9mIG0=\n-----END CERTIFICATE-----\n',
      certificateData: { commonName: 'm', country: 'AU', notBefore: BEGIN, notAfter: END },
      certificateFingerprint: 'fingerprint of m',
      isManaged: true,
      crl: { number: '7', thisUpdate: BEGIN, nextUpdate: after(30) },
      crlDue: false,
    });
    const [without] = stateOf([created(unmanaged('u'))]).iacas;
    expect(iacaView(without!, now)).not.toHaveProperty('crl');
  });
});

describe('a document is signed', () => {
  const signerIn = (events: MobileCertificatesEvent[], documents: Documents = 'mDL', time = now) => {
    const { iaca, signer } = findSigner(stateOf(events), documents, time);
    return [iaca.iacaId, signer?.documentSignerId];
  };
  const denied = (events: MobileCertificatesEvent[], documents: Documents = 'mDL', time = now) =>
    refusal(() => findSigner(stateOf(events), documents, time));
  const NO_IACA = 'credential_request_denied: no IACA of the issuer is active and valid';
  const NO_SIGNER = 'credential_request_denied: no document signer of the issuer is active and valid';

  it('under the newest IACA that is active and valid', () => {
    const two = [...active(managed('m')), ...active(managed('n'))];
    expect(signerIn(two)).toEqual(['n', undefined]);
    expect(signerIn([...two, updated('n', false)])).toEqual(['m', undefined]);
    expect(signerIn([...active(managed('m')), ...active(managed('later', END))])).toEqual(['m', undefined]);
    expect(denied([])).toBe(NO_IACA);
    expect(denied([created(managed('m'))])).toBe(NO_IACA);
    expect(denied(two, 'mDL', at(END))).toBe(NO_IACA);
  });

  it('by the newest signer for its kind, for 30 days', () => {
    const events = [...active(managed('m')), issued('first'), issued('second', { from: after(1) })];
    const other = issued('other', { documents: 'other' });
    expect(signerIn([...events, other])).toEqual(['m', 'second']);
    expect(signerIn([...events, other], 'other')).toEqual(['m', 'other']);
    expect(signerIn(events, 'other')).toEqual(['m', undefined]);
    expect(signerIn(events, 'mDL', at(after(30.9)))).toEqual(['m', 'second']);
    expect(signerIn(events, 'mDL', at(after(31)))).toEqual(['m', undefined]);
    expect(signerIn([...events, revoked('second')])).toEqual(['m', 'first']);
    expect(signerIn([...events, destroyed('second')])).toEqual(['m', 'first']);
    expect(signerIn([...events, destroyed('first', 'second')])).toEqual(['m', undefined]);
  });

  it('under an unmanaged IACA by the active signer that was changed last, or else under an older IACA', () => {
    const own = [...active(unmanaged('u')), requested('a'), requested('b')];
    expect(denied(own)).toBe(NO_SIGNER);
    expect(signerIn([...active(managed('m')), ...own])).toEqual(['m', undefined]);
    const both = [...own, certified('b', { changedAt: after(0.1) }), certified('a', { changedAt: after(0.2) })];
    expect(signerIn(both)).toEqual(['u', 'a']);
    const changed = { documentSignerId: 'b', active: true, changedAt: after(0.3) };
    expect(signerIn([...both, { type: 'DocumentSignerUpdated', data: changed }])).toEqual(['u', 'b']);
    const off = { documentSignerId: 'a', active: false, changedAt: after(0.3) };
    expect(signerIn([...both, { type: 'DocumentSignerUpdated', data: off }])).toEqual(['u', 'b']);
    expect(signerIn([...both, revoked('a')])).toEqual(['u', 'b']);
    expect(signerIn([...both, destroyed('a')])).toEqual(['u', 'b']);
    // Its owner may revoke it by the CRL alone.
    expect(signerIn([...both, published(crlOf('u', '1', { revoked: ['serial of a'] }))])).toEqual(['u', 'b']);
    expect(denied(both, 'mDL', at(after(400)))).toBe(NO_SIGNER);
  });

  it('as an mDL only by a signer of at most 457 days', () => {
    const events = [...active(unmanaged('u')), requested('a'), certified('a', { notAfter: after(458) })];
    expect(signerIn(events, 'other')).toEqual(['u', 'a']);
    expect(denied(events)).toBe(NO_SIGNER);
    const short = [...active(unmanaged('u')), requested('a'), certified('a', { notAfter: after(457) })];
    expect(signerIn(short)).toEqual(['u', 'a']);
  });
});

describe('signers of managed IACAs', () => {
  const target = { iacaId: 'm', documents: 'mDL' as const };
  const due = (events: MobileCertificatesEvent[], time: string) => isSignerDue(stateOf(events), target, at(time));

  it('are due a day before the last signature, under an active IACA only', () => {
    const events = [...active(managed('m')), issued('s'), issued('other', { documents: 'other', from: after(5) })];
    expect(due(active(managed('m')), BEGIN)).toBe(true);
    expect(due(events, after(28.9))).toBe(false);
    expect(due(events, after(29))).toBe(true);
    expect(due([...events, revoked('s')], after(1))).toBe(true);
    expect(due([...events, destroyed('s')], after(1))).toBe(true);
    expect(due([...events, updated('m', false)], after(29))).toBe(false);
    expect(due(events, END)).toBe(false);
    expect(due(active(unmanaged('m')), BEGIN)).toBe(false);
    expect(due([], BEGIN)).toBe(false);
    expect(signerDueAt({ signsUntil: at(after(30)) }, managed('m'))).toEqual(at(after(29)));
    // The last one under its IACA.
    expect(signerDueAt({ signsUntil: at(END) }, managed('m'))).toBeUndefined();
    const last = issued('s');
    delete (last.data as { dueAt?: string }).dueAt;
    expect(due([...active(managed('m')), last], after(29))).toBe(false);
  });

  it('begin with the hour, and not before their IACA', () => {
    expect(beginOfSigner(managed('m'), at('2026-02-01T10:20:00Z'))).toEqual(at('2026-02-01T10:00:00Z'));
    const half = managed('m', '2026-02-01T10:10:00.000Z');
    expect(beginOfSigner(half, at('2026-02-01T10:20:00Z'))).toEqual(at('2026-02-01T10:10:00Z'));
  });

  it('are left out when they have ended and their keys were destroyed', () => {
    const events = [0, 29, 58, 500].map((day) => issued(`s${day}`, { from: after(day) }));
    const listed = (list: { documentSignerId: string }[]) => list.map((one) => one.documentSignerId);
    expect(listed(stateOf(events).signers as never)).toEqual(['s0', 's29', 's58', 's500']);
    const [first, second, ...more] = events as [MobileCertificatesEvent, MobileCertificatesEvent];
    const state = stateOf([first, second, destroyed('s0'), ...more]);
    expect(listed(state.signers as never)).toEqual(['s29', 's58', 's500']);
    expect(listed(publishedSigners(state, at(after(516))))).toEqual(['s500']);
  });

  it('are shown as active while they sign', () => {
    const [signer] = stateOf([...active(managed('m')), issued('s')]).signers;
    expect(signerView(signer!, now)).toEqual({
      id: 's',
      iacaId: 'm',
      active: true,
      isManaged: true,
      certificatePem: expect.stringMatching(/^-----BEGIN CERTIFICATE-----\n/),
      certificateData: { commonName: 's', country: 'AU', notBefore: BEGIN, notAfter: after(457) },
      certificateFingerprint: 'fingerprint of s',
    });
    expect(signerView(signer!, at(after(30))).active).toBe(false);
  });
});

describe('private keys', () => {
  const at1 = (day: number) => at(after(day));
  const keys = (events: MobileCertificatesEvent[], time: Date) =>
    keysDestroyedBy(destroyEndedKeys(stateOf(events), time));

  it('of signers are destroyed a day after they can sign for the last time, under any IACA, also an inactive one', () => {
    const events = [
      ...[...active(managed('m')), issued('s'), issued('later', { from: after(29) })],
      ...[created(managed('n')), issued('t', { iacaId: 'n', documents: 'other', from: after(1) })],
    ];
    expect(keys(events, new Date(at1(31).getTime() - 1))).toEqual([]);
    given(mobileCertificates, events)
      .when((state) => destroyEndedKeys(state, at1(31)))
      .then([destroyed('s')]);
    expect(keys(events, at1(32))).toEqual(['key of s', 'key of t']);
    // Once. A signer that is not renewed for years is not forgotten.
    given(mobileCertificates, [...events, destroyed('s')])
      .when((state) => destroyEndedKeys(state, at1(31)))
      .then([]);
    expect(keys([...events, issued('last', { from: after(3000) })], at1(3001))).toEqual([
      'key of s',
      'key of later',
      'key of t',
    ]);
  });

  it('of signers of unmanaged IACAs are destroyed a day after their end, and kept without a certificate', () => {
    const events = [created(unmanaged('u')), requested('r'), requested('open'), certified('r', { isActive: false })];
    expect([keys(events, at1(400.9)), keys(events, at1(401)), keys(events, at(END))]).toEqual([
      [],
      ['key of r'],
      ['key of r'],
    ]);
  });

  it('of an IACA are destroyed a day after its end, and then it signs no CRL', () => {
    const events = [created(managed('m')), created(unmanaged('u')), published(crlOf('m', '1', { dueAt: after(15) }))];
    const [iaca, own] = stateOf(events).iacas;
    expect([signsCrls(iaca!, now), signsCrls(iaca!, at(END)), signsCrls(own!, now)]).toEqual([true, false, false]);
    expect(signsCrls(stateOf([...events, destroyed('m')]).iacas[0]!, now)).toBe(false);
    expect(keys(events, at(END))).toEqual([]);
    expect(keys(events, at(after(1, END)))).toEqual(['key of m']);
    expect(stateOf([...events, destroyed('m')]).iacas.map(({ isKeyDestroyed }) => isKeyDestroyed)).toEqual([
      true,
      undefined,
    ]);
  });
});

describe('CRLs', () => {
  it('of a managed IACA last 30 days and are due after 15, unless the IACA ends before', () => {
    expect(crlPeriod(managed('m'), at('2026-01-01T10:00:00.900Z'))).toEqual({
      thisUpdate: at(BEGIN),
      nextUpdate: at(after(30)),
      dueAt: at(after(15)),
    });
    expect(crlPeriod(managed('m', BEGIN, after(15)), at(BEGIN)).dueAt).toBeUndefined();
    const events = [created(managed('m')), published(crlOf('m', '1', { dueAt: after(15) }))];
    const due = (time: string) => isCrlDue(stateOf(events), 'm', at(time));
    expect([due(after(14.9)), due(after(15)), due(END)]).toEqual([false, true, false]);
    expect(isCrlDue(stateOf([]), 'm', now)).toBe(false);
  });

  it('of an unmanaged IACA are due when a revoked signer is not listed, and at their end', () => {
    const events = [created(unmanaged('u')), requested('r'), certified('r')];
    const due = (more: MobileCertificatesEvent[], time = now) =>
      isUploadDue(stateOf([...events, ...more]).iacas[0]!, time);
    const upload = (number: string, ...serials: string[]) =>
      publishUploadedCrl(stateOf([...events, revoked('r')]), 'u', { ...crlOf('u', number), revoked: serials });
    expect(due([])).toBe(false);
    expect(due([revoked('r')])).toBe(true);
    expect(upload('1', 'of another', 'serial of r')).toEqual([
      published({ ...crlOf('u', '1'), revoked: ['serial of r'] }),
    ]);
    expect(due([revoked('r'), ...upload('1', 'serial of r')])).toBe(false);
    expect(due([revoked('r'), ...upload('1', 'serial of r'), ...upload('2')])).toBe(true);
    expect(due(upload('1'), at(after(30)))).toBe(true);
    // A signer that was deleted since counts too; one whose certificate had ended before the CRL does not.
    const gone: MobileCertificatesEvent = { type: 'DocumentSignerDeleted', data: { documentSignerId: 'r' } };
    expect(due([revoked('r'), gone])).toBe(true);
    expect(due([revoked('r'), published(crlOf('u', '1', { thisUpdate: after(401), nextUpdate: END }))])).toBe(false);
    expect(due([revoked('r'), published(crlOf('u', '1', { thisUpdate: after(400), nextUpdate: END }))])).toBe(true);
  });

  it('are uploaded for unmanaged IACAs only', () => {
    const fault = 'must be the id of an unmanaged IACA: the CRL of a managed one is signed by the platform';
    expect(faultsOf(() => requireUnmanaged(stateOf([created(managed('m'))]), 'm'))).toEqual([['id', fault]]);
    expect(refusal(() => requireUnmanaged(stateOf([]), 'm'))).toBe('NotFound: Resource Not Found');
  });
});

describe('signers of unmanaged IACAs', () => {
  const own = [created(unmanaged('u')), requested('r')];
  const change =
    (isActive: boolean, more: { issued?: StoredX509; time?: Date } = {}) =>
    (state: ReturnType<typeof stateOf>) =>
      updateSigner(state, { id: 'r', active: isActive, issued: more.issued }, more.time ?? now);
  const certificate = x509('r', BEGIN, after(400));

  it('are requested, at most five', () => {
    const data = { documentSignerId: 'r', iacaId: 'u', keyId: 'key of r', csr: 'csr of r' };
    given(mobileCertificates, [created(unmanaged('u'))])
      .when((state) => requestSigner(state, data, now))
      .then([requested('r')]);
    const five = [created(unmanaged('u')), ...['a', 'b', 'c', 'd', 'e'].map((id) => requested(id))];
    expect(refusal(() => requestSigner(stateOf(five), data, now))).toBe(
      'Conflict: A tenant can have at most 5 document signers of unmanaged IACAs',
    );
    // Signers of managed IACAs do not count.
    const many = [
      ...active(managed('m')),
      created(unmanaged('u')),
      ...['a', 'b', 'c', 'd', 'e'].map((id) => issued(id)),
    ];
    expect(checkSignerRequest(stateOf(many), 'u', now).iacaId).toBe('u');
  });

  it.each([
    ['x', now, 'must be the id of an IACA of the tenant'],
    ['m', now, 'must be an unmanaged IACA: signers of managed ones are made automatically'],
    ['u', at(END), `must not be an IACA that has ended: it ended at ${END}`],
  ])('are not requested for the IACA %s at %s: %s', (id, time, msg) => {
    const state = stateOf([created(managed('m')), created(unmanaged('u'))]);
    expect(faultsOf(() => checkSignerRequest(state, id, time))).toEqual([['iacaId', msg]]);
  });

  it('become active with their certificate', () => {
    const changedAt = now.toISOString();
    const data = { documentSignerId: 'r', active: true, issued: certificate, keyId: 'key of r', changedAt };
    given(mobileCertificates, own)
      .when(change(true, { issued: certificate }))
      .then([{ type: 'DocumentSignerUpdated', data }]);
    const [signer] = stateOf([...own, { type: 'DocumentSignerUpdated', data }]).signers;
    expect(signerView(signer!, now)).toEqual({
      id: 'r',
      iacaId: 'u',
      active: true,
      isManaged: false,
      csrPem: 'csr of r',
      certificatePem: expect.stringMatching(/^-----BEGIN CERTIFICATE-----\n/),
      certificateData: certificate.data,
      certificateFingerprint: certificate.fingerprint,
    });
    const off = { documentSignerId: 'r', active: false, changedAt };
    given(mobileCertificates, [...own, certified('r')])
      .when(change(false, { issued: certificate }))
      .then([{ type: 'DocumentSignerUpdated', data: off }]);
    given(mobileCertificates, [...own, certified('r')])
      .when(change(true))
      .then([]);
    given(mobileCertificates, own).when(change(false)).then([]);
  });

  it.each<[string, MobileCertificatesEvent[], boolean, { issued?: StoredX509; time?: Date }, string, string]>([
    ['without one', [], true, {}, 'certificatePem', 'is required for an active document signer'],
    [
      'with another',
      [certified('r')],
      false,
      { issued: x509('another') },
      'certificatePem',
      'must not change: create another document signer for another certificate',
    ],
    [
      'after their end',
      [certified('r', { isActive: false })],
      true,
      { time: at(after(400)) },
      'active',
      `must be false, because the certificate ended at ${after(400)}`,
    ],
    [
      'after their revocation',
      [certified('r'), revoked('r')],
      true,
      {},
      'active',
      `must be false, because the document signer was revoked at ${BEGIN}`,
    ],
  ])('are refused %s', (_what, events, isActive, more, param, msg) =>
    expect(faultsOf(() => change(isActive, more)(stateOf([...own, ...events])))).toEqual([[param, msg]]),
  );

  it('are deleted; those of managed IACAs are not, nor changed', () => {
    given(mobileCertificates, own)
      .when((state) => deleteSigner(state, 'r'))
      .then([{ type: 'DocumentSignerDeleted', data: { documentSignerId: 'r' } }, destroyed('r')]);
    // The key of a revoked one was destroyed then.
    given(mobileCertificates, [...own, certified('r'), revoked('r'), destroyed('r')])
      .when((state) => deleteSigner(state, 'r'))
      .then([{ type: 'DocumentSignerDeleted', data: { documentSignerId: 'r' } }]);
    const fault =
      'must be the id of a document signer of an unmanaged IACA: those of managed ones are renewed automatically';
    const state = stateOf([...active(managed('m')), issued('s')]);
    expect(faultsOf(() => deleteSigner(state, 's'))).toEqual([['id', fault]]);
    expect(faultsOf(() => updateSigner(state, { id: 's', active: false }, now))).toEqual([['id', fault]]);
    given(mobileCertificates, [])
      .when((none) => deleteSigner(none, 'r'))
      .thenThrows('NotFound');
  });

  it('are revoked once, with a certificate, as those of managed IACAs are', () => {
    const time = at('2026-01-02T00:00:00.700Z');
    const revoke = (id: string) => (state: ReturnType<typeof stateOf>) => revokeSigner(state, id, time);
    given(mobileCertificates, [...own, certified('r')])
      .when(revoke('r'))
      .then([revoked('r', '2026-01-02T00:00:00.000Z'), destroyed('r')]);
    given(mobileCertificates, [...own, certified('r'), revoked('r')])
      .when(revoke('r'))
      .then([]);
    given(mobileCertificates, [...active(managed('m')), issued('s')])
      .when(revoke('s'))
      .then([revoked('s', '2026-01-02T00:00:00.000Z'), destroyed('s')]);
    given(mobileCertificates, [...active(managed('m')), issued('s'), destroyed('s')])
      .when(revoke('s'))
      .then([revoked('s', '2026-01-02T00:00:00.000Z')]);
    expect(faultsOf(() => revoke('r')(stateOf(own)))).toEqual([
      ['id', 'must be the id of a document signer with a certificate: one without can be deleted'],
    ]);
    given(mobileCertificates, []).when(revoke('r')).thenThrows('NotFound');
    const state = stateOf([...active(managed('m')), issued('s'), revoked('s')]);
    expect(state.iacas[0]!.revoked).toEqual([{ serialNumber: 'serial of s', revokedAt: BEGIN, notAfter: after(457) }]);
    expect(signerView(state.signers[0]!, now)).toMatchObject({ active: false, revocationDate: BEGIN });
  });
});

describe('signers under a domain that the tenant has lost', () => {
  const domain = 'brand.example';
  const lost = (revision: number, heldAt = BEGIN): MobileCertificatesEvent => ({
    type: 'SignersOfDomainHeld',
    data: { domain, revision, heldAt },
  });
  const restored = (revision: number): MobileCertificatesEvent => ({
    type: 'SignersOfDomainReleased',
    data: { domain, revision },
  });
  const branded = <T extends StoredX509>(certificate: T): T => ({ ...certificate, hosts: [domain, 'x.example'] });
  const heldIn = (events: MobileCertificatesEvent[]) =>
    stateOf(events).iacas.map(({ held }) => held?.map(({ serialNumber }) => serialNumber));
  const code = (events: MobileCertificatesEvent[]) => {
    try {
      return findSigner(stateOf(events), 'other', now).iaca.iacaId;
    } catch (error) {
      return (error as AppError).message;
    }
  };

  it('are recorded once, in the order of the changes of the domain', () => {
    const change = (revision: number, isWithdrawn: boolean) => (state: ReturnType<typeof stateOf>) =>
      recordDomainChange(state, { domain, revision, isWithdrawn }, at('2026-01-01T10:00:00.900Z'));
    given(mobileCertificates, [])
      .when(change(2, true))
      .then([lost(2)]);
    // Verified for the first time.
    given(mobileCertificates, []).when(change(1, false)).then([]);
    given(mobileCertificates, [lost(2)])
      .when(change(5, false))
      .then([restored(5)]);
    for (const [revision, isWithdrawn] of [
      [2, true],
      [5, false],
      [4, true],
    ] as const)
      given(mobileCertificates, [lost(2), restored(5)])
        .when(change(revision, isWithdrawn))
        .then([]);
  });

  it('are those whose certificate, or whose IACA, has the domain as alternative name', () => {
    const signers = [issued('s1'), issued('s2', { documents: 'other' }), issued('other', { iacaId: 'n' })];
    const own = [...active(branded(managed('m'))), ...active(managed('n')), ...signers];
    expect(heldIn([...own, lost(2)])).toEqual([['serial of s1', 'serial of s2'], undefined]);
    expect(heldIn([...own, lost(2), restored(3)])).toEqual([undefined, undefined]);
    expect(stateOf([...own, lost(2)]).iacas[0]!.held![0]).toEqual({
      serialNumber: 'serial of s1',
      revokedAt: BEGIN,
      notAfter: after(457),
    });
    const certificate = branded(x509('r'));
    const certifiedUnder: MobileCertificatesEvent = {
      type: 'DocumentSignerUpdated',
      data: { documentSignerId: 'r', active: true, issued: certificate, changedAt: BEGIN },
    };
    expect(heldIn([...active(unmanaged('u')), requested('r'), certifiedUnder, lost(2)])).toEqual([['serial of r']]);
    // In any order.
    expect(heldIn([lost(2), ...active(unmanaged('u')), requested('r'), certifiedUnder])).toEqual([['serial of r']]);
    expect(heldIn([lost(2), ...active(branded(managed('m'))), issued('s')])).toEqual([['serial of s']]);
    // Signers of status lists are not held: they sign that the documents are invalid.
    expect(heldIn([...own, issued('list', { documents: 'statusList' }), lost(2)])[0]).toEqual([
      'serial of s1',
      'serial of s2',
    ]);
    // A revocation is final.
    expect(heldIn([...own, lost(2), revoked('s1')])[0]).toEqual(['serial of s2']);
  });

  it('sign nothing; what does not depend on the domain does', () => {
    const withdrawn = 'the domain of the issuer has been withdrawn';
    const own = [...active(branded(managed('m'))), issued('s', { documents: 'other' })];
    expect(code(own)).toBe('m');
    expect(code([...own, lost(2)])).toBe(withdrawn);
    expect(code([...own, lost(2), restored(3)])).toBe('m');
    // Before its first signer is made.
    expect(code([...active(branded(managed('m'))), lost(2)])).toBe(withdrawn);
    expect(code([...active(managed('n')), ...own, lost(2)])).toBe('n');
    const uploaded = [...active(branded(unmanaged('u'))), requested('r'), certified('r')];
    expect(code(uploaded)).toBe('u');
    expect(code([...uploaded, lost(2)])).toBe(withdrawn);
  });

  it('make a CRL of a managed IACA due at once, and an upload of an unmanaged one', () => {
    const own = [
      ...active(branded(managed('m'))),
      ...active(managed('n')),
      ...active(branded(unmanaged('u'))),
      ...[issued('s'), requested('r'), certified('r')],
    ];
    const [before, held, released] = [own, [...own, lost(2)], [...own, lost(2), restored(3)]].map(stateOf);
    const ids = (...states: [typeof before, typeof before]) =>
      iacasToPublish(states[0]!, states[1]!, now).map(({ iacaId }) => iacaId);
    expect([ids(before, held), ids(held, released), ids(before, released)]).toEqual([['m'], ['m'], []]);
    expect(iacasToPublish(before!, held!, at(END))).toEqual([]);
    const dueIn = (state: typeof before) => state!.iacas.map((iaca) => isUploadDue(iaca, now));
    expect([before, held, released].map(dueIn)).toEqual([
      [false, false, false],
      [false, false, true],
      [false, false, false],
    ]);
    const uploaded = [...own, lost(2), published(crlOf('u', '1', { revoked: ['serial of r'] }))];
    expect(dueIn(stateOf(uploaded))).toEqual([false, false, false]);
  });
});

describe('signers of status lists', () => {
  const listed = (id: string, iacaId = 'u'): MobileCertificatesEvent => {
    const { data } = requested(id, iacaId) as Extract<MobileCertificatesEvent, { type: 'DocumentSignerRequested' }>;
    return { type: 'DocumentSignerRequested', data: { ...data, documents: 'statusList' } };
  };
  const own = [...active(unmanaged('u')), listed('l')];
  const found = (events: MobileCertificatesEvent[], iacaId: string, time = now) => {
    const { hasEnded, signer } = findListSigner(stateOf(events), iacaId, time);
    return hasEnded ? 'ended' : signer?.documentSignerId;
  };

  it('are resources of their own, at most three', () => {
    const state = stateOf([...own, requested('d'), certified('l')]);
    expect(requireSigner(state, 'l', 'status list').keyId).toBe('key of l');
    for (const decide of [
      () => requireSigner(state, 'l'),
      () => requireSigner(state, 'd', 'status list'),
      () => updateSigner(state, { id: 'l', active: false }, now),
      () => deleteSigner(state, 'l'),
      () => deleteSigner(state, 'd', 'status list'),
      () => revokeSigner(state, 'l', now),
    ])
      expect(refusal(decide)).toMatch(/^NotFound/);
    expect(publishedSigners(state, now).map((one) => one.documentSignerId)).toEqual(['d']);
    expect(publishedSigners(state, now, 'status list').map((one) => one.documentSignerId)).toEqual(['l']);
    given(mobileCertificates, own)
      .when((before) => deleteSigner(before, 'l', 'status list'))
      .then([
        { type: 'DocumentSignerDeleted', data: { documentSignerId: 'l' } },
        { type: 'CertificateKeysDestroyed', data: { destroyedKeys: ['key of l'] } },
      ]);
    const full = stateOf([...own, listed('l2'), listed('l3'), ...['a', 'b', 'c', 'd'].map((id) => requested(id))]);
    const { data } = listed('l4') as Extract<MobileCertificatesEvent, { type: 'DocumentSignerRequested' }>;
    expect(refusal(() => requestSigner(full, data, now))).toBe(
      'Conflict: A tenant can have at most 3 status list signers of unmanaged IACAs',
    );
    expect(checkSignerRequest(full, 'u', now).iacaId).toBe('u');
    expect(faultsOf(() => updateSigner(stateOf(own), { id: 'l', active: true, use: 'status list' }, now))).toEqual([
      ['certificatePem', 'is required for an active status list signer'],
    ]);
  });

  it('sign no documents, and document signers sign no lists [T176]', () => {
    const both = [...own, certified('l'), requested('d')];
    expect(refusal(() => findSigner(stateOf(both), 'other', now))).toMatch(/no document signer of the issuer/);
    expect(found(both, 'u')).toBe('l');
    expect(found([...active(unmanaged('u')), requested('d'), certified('d')], 'u')).toBeUndefined();
    const made = [...active(managed('m')), issued('d', { documents: 'other' })];
    expect(found(made, 'm')).toBeUndefined();
    const list = issued('l', { documents: 'statusList' });
    expect(found([...made, list], 'm')).toBe('l');
    expect(findSigner(stateOf([...active(managed('m')), list]), 'other', now).signer).toBeUndefined();
  });

  it('sign also while their IACA is inactive, until it ends or is deleted', () => {
    const made = [...active(managed('m')), issued('l', { documents: 'statusList' }), updated('m', false)];
    expect(found(made, 'm')).toBe('l');
    expect(found(made, 'm', at(END))).toBe('ended');
    expect(found([...made, { type: 'IacaDeleted', data: { iacaId: 'm' } }], 'm')).toBe('ended');
    const target = { iacaId: 'm', documents: 'statusList' as const };
    expect(isSignerDue(stateOf(made), target, at(after(29)))).toBe(true);
    expect(isSignerDue(stateOf(made), { ...target, documents: 'mDL' }, at(after(29)))).toBe(false);
  });

  it('are required of an unmanaged IACA where a document has a status', () => {
    const documents = [...active(unmanaged('u')), requested('d'), certified('d')];
    const find = (events: MobileCertificatesEvent[]) =>
      findSigner(stateOf(events), 'other', now, { hasStatus: true }).iaca.iacaId;
    expect(refusal(() => find(documents))).toBe(
      'credential_request_denied: no status list signer of the issuer is active and valid',
    );
    expect(find([...documents, listed('l'), certified('l')])).toBe('u');
    // Under an older IACA that has one, or can have one made.
    expect(find([...active(managed('m')), ...documents])).toBe('m');
  });
});
