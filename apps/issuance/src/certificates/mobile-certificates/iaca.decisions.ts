import { conflict, invalid, invalidBody, notFound, type ErrorDetail, type IacaRequest } from '@attestry/contracts';
import {
  beginOfHour,
  endFault,
  hasEnded,
  wholeSecond,
  yearsAfter,
  type Validity,
} from './certificate-period.decisions.js';
import { destroyKeys, keysOf } from './destroyed-keys.decisions.js';
import type { MobileCertificatesEvent, StoredCrl, StoredIaca } from './mobile-certificates.events.js';
import type { IacaState, MobileCertificatesState } from './mobile-certificates.state.js';

const MAX_IACAS = 3;

/** ISO 3166-1 codes by the beginning of a region's name; `local` is that of development, ZZ is assigned to no country. */
const COUNTRIES: Readonly<Record<string, string>> = { au: 'AU', ca: 'CA', eu: 'DE', us: 'US', local: 'ZZ' };

/** The default of `country`; undefined where the region's name says nothing. */
export const countryOf = (region: string): string | undefined => COUNTRIES[/^[a-z]*/i.exec(region)![0].toLowerCase()];

export interface IacaSubject {
  commonName: string;
  country: string;
  stateOrProvinceName?: string;
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

/** @throws AppError 404 */
export const deleteIaca = (state: MobileCertificatesState, iacaId: string): MobileCertificatesEvent[] => {
  requireIaca(state, iacaId);
  const keys = keysOf(state).filter((one) => one.iacaId === iacaId);
  return [{ type: 'IacaDeleted', data: { iacaId } }, ...destroyKeys(keys)];
};

/** Certificates that verifiers may trust, base64 DER; also one that begins later. */
export const publishedIacas = ({ iacas }: MobileCertificatesState, now: Date): string[] =>
  iacas.filter((iaca) => iaca.active && !hasEnded(iaca, now)).map(({ certificate }) => certificate);

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
