import { ConsentForm, oauthError, type RawRequest } from '@attestry/contracts';
import { checkLengths, maxLengthsOf } from '../../reading/raw-request/check-lengths.js';

const MAX_LENGTHS = maxLengthsOf(ConsentForm);
const DECISIONS: readonly unknown[] = ['approve', 'refuse'] satisfies ConsentForm['decision'][];
const refused = (description: string) => oauthError('invalid_request', description, { check: 'parse-consent-form' });

/**
 * The submitted form, from a page of the issuer; whether its request waits is not checked here.
 * @throws AppError `invalid_request`
 */
export const parseConsentForm = (
  { headers }: Pick<RawRequest, 'headers'>,
  form: URLSearchParams,
  issuer: string,
): Pick<ConsentForm, 'request' | 'token' | 'decision'> => {
  checkLengths(MAX_LENGTHS, form);
  const { origin, 'sec-fetch-site': site } = headers;
  // Browsers send the origin `null` under `Referrer-Policy: no-referrer`; the token and the cookie are checked in any case.
  const isForeign = origin !== undefined && origin !== 'null' && origin !== new URL(issuer).origin;
  if (isForeign || (site !== undefined && site !== 'same-origin'))
    throw refused('the form must be sent from the page of this issuer');
  const values = ['request', 'token', 'decision'].map((name) => {
    const [value, ...others] = form.getAll(name);
    if (!value || others.length > 0) throw refused(`${name} must be sent once, with a value`);
    return value;
  });
  const [request, token, decision] = values as [string, string, ConsentForm['decision']];
  if (!DECISIONS.includes(decision)) throw refused('decision must be approve or refuse');
  // One click cannot approve: a second page that closes under a double click would prepare it (ADR 0085).
  if (decision === 'approve' && form.get('confirmed') !== 'yes') throw refused('confirmed must be yes for an approval');
  return { request, token, decision };
};
