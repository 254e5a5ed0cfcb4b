import {
  conflict,
  invalid,
  invalidBody,
  notFound,
  oauthError,
  type ErrorDetail,
  type IacaRequest,
} from '@attestry/contracts';
import type {
  Documents,
  IssuedSigner,
  MobileCertificatesEvent,
  RequestedSigner,
  StoredCrl,
  StoredIaca,
  StoredX509,
} from './mobile-certificates.events.js';
import {
  lostSince,
  type IacaState,
  type MobileCertificatesState,
  type RequestedSignerState,
  type SignerState,
} from './mobile-certificates.state.js';

const MAX_IACAS = 3;
/** Without signers of managed IACAs. */
const MAX_SIGNERS = { document: 5, 'status list': 3 } as const;
const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
/** ISO/IEC 18013-5 Annex B.1.4. */
const LONGEST_MDL_SIGNER_DAYS = 457;
/** ISO/IEC 18013-5 Annex B.1.5 allows at most 90 days. */
const CRL_DAYS = 30;
const CRL_DAYS_IN_USE = 15;

/** ISO 3166-1 codes by the beginning of a region's name; `local` is that of development, ZZ is assigned to no country. */
const COUNTRIES: Readonly<Record<string, string>> = { au: 'AU', ca: 'CA', eu: 'DE', us: 'US', local: 'ZZ' };

/** The default of `country`; undefined where the region's name says nothing. */
export const countryOf = (region: string): string | undefined => COUNTRIES[/^[a-z]*/i.exec(region)![0].toLowerCase()];

export interface IacaSubject {
  commonName: string;
  country: string;
  stateOrProvinceName?: string;
}
export interface Validity {
  notBefore: Date;
  notAfter: Date;
}

/**
 * The content of a managed IACA. @throws AppError 400 with a detail per fault
 * @param domain for the default common name
 */
export const iacaContent = (
  request: IacaRequest,
  { domain, region }: { domain: string; region: string },
  now: Date,
): IacaSubject & Validity => {
  const { commonName = `${domain} IACA`.slice(0, 64), country = countryOf(region), stateOrProvinceName } = request;
  const validity = iacaValidity(request, now);
  const faults: ErrorDetail[] = [];
  const fault = (param: keyof IacaRequest, msg: string) =>
    faults.push({
      ...(request[param] !== undefined && { value: request[param] }),
      msg,
      param,
      location: 'body',
    });
  if (country === undefined) fault('country', `is required: the region ${region} of the tenant has no default`);
  else if (stateOrProvinceName !== undefined && !stateOrProvinceName.startsWith(`${country}-`))
    fault('stateOrProvinceName', `must be a code of the country ${country}, which begins with ${country}-`);
  const { notBefore, notAfter } = validity;
  if (request.notBefore !== undefined && notBefore < wholeSecond(now)) fault('notBefore', 'must not be in the past');
  if (notAfter <= notBefore) fault('notAfter', 'must be later than notBefore');
  else if (notAfter > yearsAfter(notBefore, 20)) fault('notAfter', 'must be at most 20 years after notBefore');
  if (faults.length) throw invalid(...faults);
  return {
    commonName,
    country: country!,
    ...(stateOrProvinceName !== undefined && { stateOrProvinceName }),
    ...validity,
  };
};

/** The default begins with the hour: a verifier's clock may be behind. */
const iacaValidity = ({ notBefore, notAfter }: IacaRequest, now: Date): Validity => {
  const from = notBefore === undefined ? beginOfHour(now) : wholeSecond(new Date(notBefore));
  return { notBefore: from, notAfter: notAfter === undefined ? yearsAfter(from, 10) : wholeSecond(new Date(notAfter)) };
};
const beginOfHour = (time: Date): Date => new Date(Math.floor(time.getTime() / HOUR_MS) * HOUR_MS);
const wholeSecond = (time: Date): Date => new Date(Math.floor(time.getTime() / 1000) * 1000);
const yearsAfter = (time: Date, years: number): Date => {
  const later = new Date(time);
  later.setUTCFullYear(later.getUTCFullYear() + years);
  return later;
};

/** @throws AppError 400 for members that are given beside a certificate */
export const checkUnmanaged = ({ certificatePem: _, ...others }: IacaRequest): void => {
  const faults = Object.entries(others)
    .filter(([, value]) => value !== undefined)
    .map(([param, value]): ErrorDetail => ({
      value,
      msg: 'must not be given with certificatePem',
      param,
      location: 'body',
    }));
  if (faults.length) throw invalid(...faults);
};

/** @throws AppError 409 */
export const checkRoomForIaca = ({ iacas }: MobileCertificatesState): void => {
  if (iacas.length >= MAX_IACAS) throw conflict(`A tenant can have at most ${MAX_IACAS} IACAs`);
};

/** @throws AppError 409; 400 for the certificate of another IACA */
export const createIaca = (
  state: MobileCertificatesState,
  { iaca, crl }: { iaca: StoredIaca; crl?: StoredCrl },
): MobileCertificatesEvent[] => {
  checkRoomForIaca(state);
  if (state.iacas.some(({ fingerprint }) => fingerprint === iaca.fingerprint))
    throw invalidBody('certificatePem', 'must not be the certificate of another IACA of the tenant');
  return [{ type: 'IacaCreated', data: iaca }, ...(crl ? [{ type: 'CrlPublished' as const, data: crl }] : [])];
};

/** @throws AppError 404 */
export const requireIaca = ({ iacas }: MobileCertificatesState, id: string): IacaState => {
  const iaca = iacas.find(({ iacaId }) => iacaId === id);
  if (!iaca) throw notFound();
  return iaca;
};

/** Signers of documents and of status lists are different resources. */
export type SignerUse = keyof typeof MAX_SIGNERS;
const useOf = ({ documents }: { documents?: Documents }): SignerUse =>
  documents === 'statusList' ? 'status list' : 'document';

/** @throws AppError 404 */
export const requireSigner = (
  { signers }: MobileCertificatesState,
  id: string,
  use: SignerUse = 'document',
): SignerState => {
  const signer = signers.find((one) => one.documentSignerId === id && useOf(one) === use);
  if (!signer) throw notFound();
  return signer;
};

/** @throws AppError 404; 400 for one that has ended */
export const updateIaca = (
  state: MobileCertificatesState,
  { iacaId, active }: { iacaId: string; active: boolean },
  now: Date,
): MobileCertificatesEvent[] => {
  const iaca = requireIaca(state, iacaId);
  if (active && hasEnded(iaca, now)) throw invalidBody('active', endFault(iaca), active);
  return iaca.active === active ? [] : [{ type: 'IacaUpdated', data: { iacaId, active } }];
};
const endFault = ({ data }: StoredX509): string => `must be false, because the certificate ended at ${data.notAfter}`;

/** @throws AppError 404 */
export const deleteIaca = (state: MobileCertificatesState, iacaId: string): MobileCertificatesEvent[] => {
  requireIaca(state, iacaId);
  const keys = keysOf(state).filter((one) => one.iacaId === iacaId);
  return [{ type: 'IacaDeleted', data: { iacaId } }, ...destroyKeys(keys)];
};

/** IACAs and signers whose private key is in the vault. */
const keysOf = ({ iacas, signers }: MobileCertificatesState) =>
  [...iacas, ...signers].filter(
    (one): one is (IacaState & { keyId: string }) | SignerState => one.keyId !== undefined && !one.isKeyDestroyed,
  );

const destroyKeys = (keys: readonly { keyId: string }[]): MobileCertificatesEvent[] =>
  keys.length ? [{ type: 'CertificateKeysDestroyed', data: { destroyedKeys: keys.map(({ keyId }) => keyId) } }] : [];

/** Keys that are destroyed with the events. */
export const keysDestroyedBy = (events: readonly MobileCertificatesEvent[]): string[] =>
  events.flatMap((event) => (event.type === 'CertificateKeysDestroyed' ? event.data.destroyedKeys : []));

/** A day after the last signature: a process may sign with a key for the time of a request, and by a clock that is behind. */
export const endedKeyDueAt = (lastUse: string): Date => new Date(Date.parse(lastUse) + DAY_MS);

/** Keys of IACAs that have ended, and of signers that sign no more. */
export const destroyEndedKeys = (state: MobileCertificatesState, now: Date): MobileCertificatesEvent[] =>
  destroyKeys(
    keysOf(state).filter((one) => {
      const lastUse = 'signsUntil' in one ? one.signsUntil : one.data?.notAfter;
      return lastUse !== undefined && now >= endedKeyDueAt(lastUse);
    }),
  );

const hasEnded = ({ data }: Pick<StoredX509, 'data'>, now: Date): boolean => now >= new Date(data.notAfter);
const isValid = (one: Pick<StoredX509, 'data'>, now: Date): boolean =>
  now >= new Date(one.data.notBefore) && !hasEnded(one, now);

/** Certificates that verifiers may trust, base64 DER; also one that begins later. */
export const publishedIacas = ({ iacas }: MobileCertificatesState, now: Date): string[] =>
  iacas.filter((iaca) => iaca.active && !hasEnded(iaca, now)).map(({ certificate }) => certificate);

export interface SignerTarget {
  iacaId: string;
  documents: Documents;
}

/**
 * What signs a document: the newest IACA that is active and valid, and that has a signer or can have one made; for a document with a status
 * also one of status lists.
 * @throws AppError credential_request_denied
 */
export const findSigner = (
  state: MobileCertificatesState,
  documents: Documents,
  now: Date,
  { hasStatus }: { hasStatus: boolean } = { hasStatus: false },
): { iaca: IacaState; signer: IssuedSigner | (RequestedSigner & StoredX509) | undefined } => {
  const active = state.iacas.filter((iaca) => iaca.active && isValid(iaca, now)).reverse();
  let lacksListSigner = false;
  for (const iaca of active) {
    if (lostSince(state, iaca) !== undefined) continue;
    const signer =
      iaca.keyId === undefined
        ? uploadedSigner(state, iaca, documents, now)
        : issuedSigner(state, { iacaId: iaca.iacaId, documents }, now);
    if (!signer && iaca.keyId === undefined) continue;
    lacksListSigner = hasStatus && iaca.keyId === undefined && !uploadedSigner(state, iaca, 'statusList', now);
    if (!lacksListSigner) return { iaca, signer };
  }
  throw oauthError(
    'credential_request_denied',
    active.some((iaca) => iaca.held ?? lostSince(state, iaca))
      ? 'the domain of the issuer has been withdrawn'
      : active.length
        ? `no ${lacksListSigner ? 'status list' : 'document'} signer of the issuer is active and valid`
        : 'no IACA of the issuer is active and valid',
    { check: 'find-signer' },
  );
};

/**
 * What signs the status lists of an IACA, also while it is inactive: its documents exist. Undefined where one is to be made or uploaded;
 * `hasEnded` when there can be no other.
 */
export const findListSigner = (
  state: MobileCertificatesState,
  iacaId: string,
  now: Date,
): { hasEnded: boolean; iaca?: IacaState; signer?: (IssuedSigner | UploadedSigner) | undefined } => {
  const iaca = state.iacas.find((one) => one.iacaId === iacaId);
  if (!iaca || hasEnded(iaca, now)) return { hasEnded: true };
  const signer =
    iaca.keyId === undefined
      ? uploadedSigner(state, iaca, 'statusList', now)
      : issuedSigner(state, { iacaId, documents: 'statusList' }, now);
  return { hasEnded: false, iaca, signer };
};

const newestIssued = ({ signers }: MobileCertificatesState, { iacaId, documents }: SignerTarget) =>
  signers.findLast(
    (one) =>
      one.kind === 'managed' &&
      one.iacaId === iacaId &&
      one.documents === documents &&
      one.revokedAt === undefined &&
      // Before `signsUntil` only where the clock was ahead once.
      !one.isKeyDestroyed,
  ) as IssuedSigner | undefined;

const issuedSigner = (state: MobileCertificatesState, target: SignerTarget, now: Date): IssuedSigner | undefined => {
  const newest = newestIssued(state, target);
  return newest && now < new Date(newest.signsUntil) ? newest : undefined;
};

type UploadedSigner = RequestedSignerState & StoredX509;
/** The one that was changed last. Verifiers reject an mDL whose signer lives longer than 457 days. */
const uploadedSigner = (
  { signers }: MobileCertificatesState,
  { iacaId, crl, held }: IacaState,
  documents: Documents,
  now: Date,
): UploadedSigner | undefined =>
  signers
    .filter((one): one is UploadedSigner => one.kind === 'requested' && one.certificate !== undefined)
    .filter(
      (one) =>
        one.iacaId === iacaId &&
        (one.documents === 'statusList') === (documents === 'statusList') &&
        one.active &&
        one.revokedAt === undefined &&
        !one.isKeyDestroyed &&
        isValid(one, now) &&
        !crl?.revoked.includes(one.serialNumber) &&
        !held?.some(({ serialNumber }) => serialNumber === one.serialNumber) &&
        (documents !== 'mDL' || daysOf(one) <= LONGEST_MDL_SIGNER_DAYS),
    )
    .sort((a, b) => (a.changedAt! < b.changedAt! ? -1 : 1))
    .at(-1);
const daysOf = ({ data }: StoredX509): number => (Date.parse(data.notAfter) - Date.parse(data.notBefore)) / DAY_MS;

/** Whether another signer is made: of an IACA that is managed, valid and, except for status lists, active. */
export const isSignerDue = (state: MobileCertificatesState, target: SignerTarget, now: Date): boolean => {
  const iaca = state.iacas.find(({ iacaId }) => iacaId === target.iacaId);
  if (iaca?.keyId === undefined || !isValid(iaca, now)) return false;
  if (!iaca.active && target.documents !== 'statusList') return false;
  const newest = newestIssued(state, target);
  return !newest || now >= new Date(newest.dueAt ?? newest.signsUntil);
};

/** From when the certificate of a signer that is made now is valid. */
export const beginOfSigner = ({ data }: StoredX509, now: Date): Date =>
  new Date(Math.max(beginOfHour(now).getTime(), Date.parse(data.notBefore)));

/** A day before the last signature: also where every process was stopped for hours, no request waits for a certificate. */
export const signerDueAt = ({ signsUntil }: { signsUntil: Date }, { data }: StoredX509): Date | undefined =>
  signsUntil < new Date(data.notAfter) ? new Date(signsUntil.getTime() - DAY_MS) : undefined;

/** Whether another CRL is made of a managed IACA. */
export const isCrlDue = (state: MobileCertificatesState, id: string, now: Date): boolean => {
  const iaca = state.iacas.find(({ iacaId }) => iacaId === id);
  return iaca?.crl?.dueAt !== undefined && now >= new Date(iaca.crl.dueAt) && signsCrls(iaca, now);
};

/** Whether the platform signs CRLs of an IACA: its key is destroyed after its end. */
export const signsCrls = (iaca: IacaState, now: Date): boolean =>
  iaca.keyId !== undefined && !iaca.isKeyDestroyed && !hasEnded(iaca, now);

/** `dueAt` is absent where the IACA, and with it every signer, ends before. */
export const crlPeriod = (
  { data }: StoredX509,
  now: Date,
): { thisUpdate: Date; nextUpdate: Date; dueAt: Date | undefined } => {
  const thisUpdate = wholeSecond(now);
  const after = (days: number) => new Date(thisUpdate.getTime() + days * DAY_MS);
  const dueAt = after(CRL_DAYS_IN_USE);
  return { thisUpdate, nextUpdate: after(CRL_DAYS), dueAt: dueAt < new Date(data.notAfter) ? dueAt : undefined };
};

/** Whether the owner of an IACA must upload a CRL. */
export const isUploadDue = ({ keyId, crl, revoked, held = [] }: IacaState, now: Date): boolean =>
  keyId === undefined &&
  ([...revoked, ...held].some(({ serialNumber }) => !crl?.revoked.includes(serialNumber)) ||
    (crl !== undefined && now >= new Date(crl.nextUpdate)));

/** @throws AppError 404; 400 for a managed IACA */
export const requireUnmanaged = (state: MobileCertificatesState, iacaId: string): IacaState => {
  const iaca = requireIaca(state, iacaId);
  if (iaca.keyId === undefined) return iaca;
  throw invalid({
    value: iacaId,
    msg: 'must be the id of an unmanaged IACA: the CRL of a managed one is signed by the platform',
    param: 'id',
    location: 'params',
  });
};

/** Of the serial numbers those of this tenant's signers are kept. @throws AppError 404; 400 for a managed IACA */
export const publishUploadedCrl = (
  state: MobileCertificatesState,
  iacaId: string,
  { revoked, ...crl }: Omit<StoredCrl, 'iacaId' | 'dueAt' | 'revoked'> & { revoked: readonly string[] },
): MobileCertificatesEvent[] => {
  const iaca = requireUnmanaged(state, iacaId);
  const ours = new Set(
    [...iaca.revoked, ...state.signers.filter((one) => one.iacaId === iacaId)].map(({ serialNumber }) => serialNumber),
  );
  return [{ type: 'CrlPublished', data: { iacaId, ...crl, revoked: revoked.filter((serial) => ours.has(serial)) } }];
};

/** Signers that may still be looked up: without those of managed IACAs that have ended. */
export const publishedSigners = (
  { signers }: MobileCertificatesState,
  now: Date,
  use: SignerUse = 'document',
): SignerState[] => signers.filter((one) => useOf(one) === use && (one.kind === 'requested' || !hasEnded(one, now)));

/** @throws AppError 400, 409 */
export const checkSignerRequest = (
  state: MobileCertificatesState,
  id: string,
  now: Date,
  use: SignerUse = 'document',
): IacaState => {
  const iaca = state.iacas.find(({ iacaId }) => iacaId === id);
  if (!iaca) throw invalidBody('iacaId', 'must be the id of an IACA of the tenant', id);
  if (iaca.keyId !== undefined)
    throw invalidBody('iacaId', 'must be an unmanaged IACA: signers of managed ones are made automatically', id);
  if (hasEnded(iaca, now))
    throw invalidBody('iacaId', `must not be an IACA that has ended: it ended at ${iaca.data.notAfter}`, id);
  if (state.signers.filter((one) => one.kind === 'requested' && useOf(one) === use).length >= MAX_SIGNERS[use])
    throw conflict(`A tenant can have at most ${MAX_SIGNERS[use]} ${use} signers of unmanaged IACAs`);
  return iaca;
};

/** @throws AppError 400, 409 */
export const requestSigner = (
  state: MobileCertificatesState,
  signer: RequestedSigner,
  now: Date,
): MobileCertificatesEvent[] => {
  checkSignerRequest(state, signer.iacaId, now, useOf(signer));
  return [{ type: 'DocumentSignerRequested', data: signer }];
};

/** @throws AppError 404; 400 for a signer of a managed IACA */
export const requireRequested = (
  state: MobileCertificatesState,
  id: string,
  use: SignerUse = 'document',
): RequestedSignerState => {
  const signer = requireSigner(state, id, use);
  if (signer.kind === 'requested') return signer;
  throw invalid({
    value: id,
    msg: `must be the id of a ${use} signer of an unmanaged IACA: those of managed ones are renewed automatically`,
    param: 'id',
    location: 'params',
  });
};

export interface UpdateSigner {
  id: string;
  active: boolean;
  issued?: StoredX509 | undefined;
  use?: SignerUse;
}

/** @throws AppError 404, 400 */
export const updateSigner = (
  state: MobileCertificatesState,
  { id, active, issued, use = 'document' }: UpdateSigner,
  now: Date,
): MobileCertificatesEvent[] => {
  const signer = requireRequested(state, id, use);
  const isNew = issued !== undefined && issued.fingerprint !== signer.fingerprint;
  if (signer.revokedAt !== undefined && (active || isNew))
    throw invalidBody(
      'active',
      `must be false, because the document signer was revoked at ${signer.revokedAt}`,
      active,
    );
  if (isNew && signer.certificate !== undefined)
    throw invalidBody('certificatePem', `must not change: create another ${use} signer for another certificate`);
  if (active) {
    const certified = issued ?? (signer.certificate === undefined ? undefined : (signer as StoredX509));
    if (!certified) throw invalidBody('certificatePem', `is required for an active ${use} signer`);
    if (hasEnded(certified, now)) throw invalidBody('active', endFault(certified), active);
  }
  if (!isNew && active === signer.active) return [];
  const changedAt = now.toISOString();
  return [
    {
      type: 'DocumentSignerUpdated',
      data: { documentSignerId: id, active, ...(isNew && { issued, keyId: signer.keyId }), changedAt },
    },
  ];
};

/** @throws AppError 404, 400 */
export const deleteSigner = (
  state: MobileCertificatesState,
  id: string,
  use: SignerUse = 'document',
): MobileCertificatesEvent[] => {
  const signer = requireRequested(state, id, use);
  return [
    { type: 'DocumentSignerDeleted', data: { documentSignerId: id } },
    ...(signer.isKeyDestroyed ? [] : destroyKeys([signer])),
  ];
};

/** None for a signer that is revoked already. @throws AppError 404; 400 without a certificate */
export const revokeSigner = (state: MobileCertificatesState, id: string, now: Date): MobileCertificatesEvent[] => {
  const signer = requireSigner(state, id);
  if (signer.certificate === undefined)
    throw invalid({
      value: id,
      msg: 'must be the id of a document signer with a certificate: one without can be deleted',
      param: 'id',
      location: 'params',
    });
  if (signer.revokedAt !== undefined) return [];
  return [
    { type: 'DocumentSignerRevoked', data: { documentSignerId: id, revokedAt: wholeSecond(now).toISOString() } },
    ...(signer.isKeyDestroyed ? [] : destroyKeys([signer])),
  ];
};

/** Idempotent, and ignores events older than the last one. */
export const recordDomainChange = (
  state: MobileCertificatesState,
  { domain, revision, isWithdrawn }: { domain: string; revision: number; isWithdrawn: boolean },
  changedAt: Date,
): MobileCertificatesEvent[] => {
  if (revision <= (state.domainRevision ?? -1)) return [];
  // Verified for the first time: no signer was held.
  if (!isWithdrawn && !state.lostDomains?.some((lost) => lost.domain === domain)) return [];
  return isWithdrawn
    ? [{ type: 'SignersOfDomainHeld', data: { domain, revision, heldAt: wholeSecond(changedAt).toISOString() } }]
    : [{ type: 'SignersOfDomainReleased', data: { domain, revision } }];
};

/** Managed IACAs whose CRL changes between two states because signers are held or released. */
export const iacasToPublish = (
  before: MobileCertificatesState,
  after: MobileCertificatesState,
  now: Date,
): IacaState[] => {
  const serials = (iaca: IacaState | undefined) => String(iaca?.held?.map(({ serialNumber }) => serialNumber));
  return after.iacas.filter((iaca, index) => signsCrls(iaca, now) && serials(iaca) !== serials(before.iacas[index]));
};
