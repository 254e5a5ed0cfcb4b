import {
  CLAIM_BOUNDS,
  locatedJsonFault,
  mediaTypeOf,
  shownPath,
  withParameters,
  type ClaimSourceMethod,
  type ParameterMapping,
} from '@attestry/contracts';
import { parseAnswer, plainCopy, type OutboundAnswer, type OutboundRequest } from '@attestry/service-kit';
import { ClaimsNotReady } from '../credential-claims/claims-not-ready.js';
import { mapKnownClaims, type UserObject } from '../../formats/map-claims.js';
import { isObject } from '../../reading/raw-request/raw-request.js';
import { configurationMemberOf, type ConfigurationMember } from './claim-sources.decisions.js';

/** Time for the exchange with a source, and for that with its token endpoint, milliseconds. */
export const SOURCE_MS = 3000;
/** The claims of an offer may have as many bytes. */
export const MAX_ANSWER_BYTES = 512_000;
const MAX_ADDRESS = 8192;

/** The source did not return claims. The message names no value of a request or an answer: it is logged and recorded. */
export class SourceFailed extends Error {
  override readonly name = 'SourceFailed';
}

/** Parameters with a value. */
export const parametersOf = (
  mappings: Record<string, ParameterMapping>,
  from: UserObject,
  configuration: Record<ConfigurationMember, string>,
): Record<string, unknown> =>
  mapKnownClaims(
    Object.fromEntries(
      Object.entries(mappings).map(([name, mapping]) => {
        const member = configurationMemberOf(mapping.mapFrom);
        return [name, member ? { defaultValue: configuration[member] } : mapping];
      }),
    ),
    from,
  );

/** @throws SourceFailed */
export const sourceRequest = (
  { url, requestMethod }: { url: string; requestMethod: ClaimSourceMethod },
  parameters: Record<string, unknown>,
): { url: string } & Pick<OutboundRequest, 'method' | 'headers' | 'body'> => {
  const accept = { accept: 'application/json' };
  if (requestMethod === 'POST')
    return {
      url,
      method: 'POST',
      headers: { ...accept, 'content-type': 'application/json' },
      body: JSON.stringify(parameters),
    };
  const query = new URLSearchParams(
    Object.entries(parameters).map(([name, value]) => [
      name,
      typeof value === 'string' ? value : JSON.stringify(value),
    ]),
  );
  const address = query.size === 0 ? url : withParameters(url, query);
  if (address.length > MAX_ADDRESS) throw new SourceFailed(`the parameters of GET exceed ${MAX_ADDRESS} characters`);
  return { url: address, method: 'GET', headers: accept };
};

/**
 * Claims of an answer: a JSON object with 2xx.
 * @throws ClaimsNotReady for 202
 * @throws SourceFailed
 */
export const claimsOfAnswer = ({ status, headers, body }: OutboundAnswer): Record<string, unknown> => {
  if (status === 202) throw new ClaimsNotReady('the claims source has no claims yet');
  if (status < 200 || status > 299) throw new SourceFailed(`the status is ${status}`);
  const claims = jsonObjectOf({ headers, body });
  const fault = locatedJsonFault(claims, CLAIM_BOUNDS);
  if (fault) {
    const place = fault.path.length > 0 ? `: ${shownPath(fault.path)}` : '';
    throw new SourceFailed(`the answer${place} ${fault.msg}`);
  }
  return plainCopy(claims) as Record<string, unknown>;
};

/** @throws SourceFailed */
export const jsonObjectOf = ({ headers, body }: Pick<OutboundAnswer, 'headers' | 'body'>): Record<string, unknown> => {
  if (mediaTypeOf(headers['content-type']) !== 'application/json')
    throw new SourceFailed('the content type is not application/json');
  let value: unknown;
  try {
    value = parseAnswer(body);
  } catch {
    // Without the error, which quotes the answer.
    throw new SourceFailed('the answer is not JSON in UTF-8 of at most 64 levels and 100,000 values');
  }
  if (!isObject(value)) throw new SourceFailed('the answer is not a JSON object');
  return value;
};
