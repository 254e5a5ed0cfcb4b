import { jsonFaultPosition, oauthError } from '@attestry/contracts';
import type { OfferEntry } from '../issuance-session/issuance-session.events.js';
import { isObject } from '../../reading/raw-request/raw-request.js';

/** An entry of `authorization_details` (OID4VCI §5.1.1); whether the offer has it is checked later. */
export interface RequestedDetail {
  credentialConfigurationId: string;
  /** Credential issuer identifiers; whether they are the issuer's is checked later (OID4VCI §5.1.1). */
  locations?: readonly string[];
}

/** Entries that an authorization request asks for, of those that an offer or the issuer metadata have. */
export interface RequestedEntries {
  entries: OfferEntry[];
  /** Configurations whose identifiers the token response returns. */
  detailed?: string[];
  /** Stored offer that the request names. */
  offerId?: string;
}

const MAX_AUTHORIZATION_DETAILS = 20;
const MEMBERS = new Set(['type', 'credential_configuration_id', 'claims', 'locations']);

/** RFC 9396 §5: unknown types, unknown members and wrong types of members are refused. */
export const parseAuthorizationDetails = (text: string): RequestedDetail[] => {
  let details: unknown;
  try {
    details = JSON.parse(text);
  } catch (cause) {
    if (!(cause instanceof SyntaxError)) throw cause;
    throw refused(`authorization_details must be JSON: ${jsonFaultPosition(text)}`);
  }
  if (!Array.isArray(details) || details.length === 0 || details.length > MAX_AUTHORIZATION_DETAILS)
    throw refused(`authorization_details must be an array of 1 to ${MAX_AUTHORIZATION_DETAILS} objects`);
  return details.map((detail: unknown) => {
    if (!isObject(detail)) throw refused('every entry of authorization_details must be an object');
    if (detail['type'] !== 'openid_credential') throw refused('type must be openid_credential');
    if (Object.keys(detail).some((member) => !MEMBERS.has(member)))
      throw refused(`an authorization details object must have no members except ${[...MEMBERS].join(', ')}`);
    const id = detail['credential_configuration_id'];
    if (typeof id !== 'string' || id === '') throw refused('credential_configuration_id must be a string');
    for (const member of ['claims', 'locations'])
      if (detail[member] !== undefined && !Array.isArray(detail[member])) throw refused(`${member} must be an array`);
    const locations = detail['locations'] as unknown[] | undefined;
    if (locations && !locations.every((location) => typeof location === 'string'))
      throw refused('locations must contain only strings');
    return { credentialConfigurationId: id, ...(locations?.length && { locations: locations as string[] }) };
  });
};

const refused = (description: string) =>
  oauthError('invalid_authorization_details', description, { check: 'authorization-details' });
