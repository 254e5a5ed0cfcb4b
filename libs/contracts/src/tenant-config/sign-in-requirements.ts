/**
 * Requirements on the sign-in from the parameters of a provider's authorization requests. The parameters travel through the browser, so
 * each is required of the ID token again (OpenID Connect Core 1.0 §3.1.3.7 items 12 and 13, ADR 0112).
 */
export interface StepUp {
  /** Longest age of the authentication when the sign-in begins, seconds (`max_age`). */
  maxAge?: number;
  /** One of them is the `acr` of the ID token. */
  acrValues?: string[];
  /** Essential claim `acr` of the parameter `claims` (§5.5.1.1); without values it only has to be present. */
  essentialAcr?: { values?: string[] };
}

type Read<T> = { value?: T; fault?: string };
type Json = Record<string, unknown>;

const isRecord = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const MAX_AGE_FAULT = 'must have as max_age a whole number of seconds, such as 300';

/** The provider receives text: the digits of a text are a number. */
const maxAgeOf = (value: unknown): Read<number> => {
  if (value === undefined) return {};
  const isNumber = typeof value === 'number' || (typeof value === 'string' && /^\d+$/.test(value));
  const seconds = isNumber ? Number(value) : NaN;
  return Number.isSafeInteger(seconds) && seconds >= 0 ? { value: seconds } : { fault: MAX_AGE_FAULT };
};

/** A list separated by spaces (§3.1.2.1); a number is sent as its digits. */
const acrValuesOf = (value: unknown): Read<string[]> => {
  if (value === undefined) return {};
  const values = typeof value === 'string' || typeof value === 'number' ? String(value).split(/\s+/) : [];
  const found = values.filter((one) => one !== '');
  return found.length > 0
    ? { value: found }
    : { fault: 'must have as acr_values a text with at least one value, separated by spaces' };
};

const CLAIMS_FAULT = 'must have as claims a JSON object (OpenID Connect Core 1.0 section 5.5)';

const claimsOf = (value: unknown): Read<Json> => {
  let claims = value;
  if (typeof value === 'string')
    try {
      claims = JSON.parse(value);
    } catch {
      return { fault: CLAIMS_FAULT };
    }
  return isRecord(claims) ? { value: claims } : { fault: CLAIMS_FAULT };
};

const isText = (value: unknown): value is string => typeof value === 'string' && value !== '';

/** @param request of the claim `acr`: null, or an object */
const essentialOf = (request: unknown): Read<NonNullable<StepUp['essentialAcr']>> => {
  if (request === undefined || request === null) return {};
  if (!isRecord(request)) return { fault: 'must have as acr in claims an object or null' };
  const { essential, value, values } = request;
  if (essential !== undefined && typeof essential !== 'boolean')
    return { fault: 'must have as essential of acr in claims true or false' };
  if (essential !== true) return {};
  if (value !== undefined && !isText(value)) return { fault: 'must have as value of acr in claims a text' };
  if (values !== undefined && !(Array.isArray(values) && values.length > 0 && values.every(isText)))
    return { fault: 'must have as values of acr in claims a list of texts' };
  const all = [...(value === undefined ? [] : [value]), ...((values as string[] | undefined) ?? [])];
  return { value: all.length > 0 ? { values: all } : {} };
};

const essentialAcrOf = (parameter: unknown): Read<NonNullable<StepUp['essentialAcr']>> => {
  if (parameter === undefined) return {};
  const { value: claims, fault } = claimsOf(parameter);
  if (!claims) return { fault: fault! };
  for (const name of ['id_token', 'userinfo'])
    if (claims[name] !== undefined && claims[name] !== null && !isRecord(claims[name]))
      return { fault: `must have as ${name} in claims an object or null` };
  const { acr } = (claims['userinfo'] ?? {}) as Json;
  // Nothing in UserInfo says how the user of this sign-in was authenticated.
  if (isRecord(acr) && acr['essential'] !== undefined && acr['essential'] !== false)
    return { fault: 'must request an essential acr in id_token of claims, not in userinfo' };
  return essentialOf(((claims['id_token'] ?? {}) as Json)['acr']);
};

/** @param parameters `staticRequestParameters`; a parameter with a fault requires nothing */
export const readStepUp = (parameters: Record<string, unknown>): { stepUp: StepUp; fault?: string } => {
  const maxAge = maxAgeOf(parameters['max_age']);
  const acrValues = acrValuesOf(parameters['acr_values']);
  const essentialAcr = essentialAcrOf(parameters['claims']);
  const fault = maxAge.fault ?? acrValues.fault ?? essentialAcr.fault;
  return {
    stepUp: {
      ...(maxAge.value !== undefined && { maxAge: maxAge.value }),
      ...(acrValues.value && { acrValues: acrValues.value }),
      ...(essentialAcr.value && { essentialAcr: essentialAcr.value }),
    },
    ...(fault !== undefined && { fault }),
  };
};

/** Claims that only the ID token has: they are about the authentication, not about the person. */
export const AUTHENTICATION_CLAIMS = ['acr', 'amr', 'auth_time'] as const;

/** Most allowed values of a required claim. */
const MAX_VALUES = 100;
const MAX_CLAIM_NAME = 255;

/** Fault of `requiredClaims`, if it has one; another rule refuses what is no object. */
export const requiredClaimsFault = (value: unknown): string | undefined => {
  if (!isRecord(value)) return undefined;
  for (const [name, values] of Object.entries(value)) {
    if (name.length === 0 || name.length > MAX_CLAIM_NAME)
      return `must have names of 1 to ${MAX_CLAIM_NAME} characters`;
    if (!Array.isArray(values)) return `must have a list of allowed values for each claim, unlike ${name}`;
    if (values.length === 0 && name !== 'acr') return `must have at least one allowed value for ${name}`;
    if (values.length > MAX_VALUES) return `must have at most ${MAX_VALUES} allowed values for a claim, unlike ${name}`;
    if (values.includes(null)) return `must not have null as a value of ${name}: a claim that is null has no value`;
  }
  return undefined;
};
