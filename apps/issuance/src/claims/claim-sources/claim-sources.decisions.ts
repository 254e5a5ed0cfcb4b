import { conflict, invalid, notFound, type ClaimSourceRequest, type ErrorDetail } from '@attestry/contracts';
import { parseClaimPath, unmatchedPath } from '../../formats/claim-path.js';
import { isObject } from '../../reading/raw-request/raw-request.js';
import type { ClaimSourcesEvent, ConfiguredSource } from './claim-sources.events.js';
import type { ClaimSourcesState } from './claim-sources.state.js';

const MAX_SOURCES = 100;
/** Configurations that a refused deletion names. */
const MAX_NAMED = 10;

/** Result of the rules for outbound targets for a URL: its ASCII form, or the error. */
type CheckTarget = (text: string) => { url: string } | { fault: string };

export const CONFIGURATION_MEMBERS = ['id', 'type', 'format', 'profile'] as const;
export type ConfigurationMember = (typeof CONFIGURATION_MEMBERS)[number];

/** The member of a credential configuration that a path addresses. */
export const configurationMemberOf = (mapFrom: string | undefined): ConfigurationMember | undefined =>
  CONFIGURATION_MEMBERS.find((member) => mapFrom === `credentialConfiguration.${member}`);

const mappingFault = (name: string, mapping: unknown): string | undefined => {
  if (name === '' || !name.isWellFormed()) return 'must have a name that is not empty and well-formed Unicode';
  if (!isObject(mapping)) return 'must be an object';
  if (Object.keys(mapping).some((key) => key !== 'mapFrom' && key !== 'defaultValue'))
    return 'must have only the members mapFrom and defaultValue';
  const { mapFrom, defaultValue } = mapping;
  if (mapFrom === undefined && defaultValue === undefined) return 'must have mapFrom or defaultValue';
  if (defaultValue === null) return 'must not have a null defaultValue';
  if (mapFrom === undefined) return undefined;
  const unmatched = typeof mapFrom === 'string' ? unmatchedPath(mapFrom) : undefined;
  if (unmatched !== undefined) return unmatched;
  return typeof mapFrom === 'string' && (configurationMemberOf(mapFrom) || parseClaimPath(mapFrom))
    ? undefined
    : `must have a path such as claims.email, authenticationProvider.subjectId or credentialConfiguration.type in mapFrom`;
};

const MEMBERS_OF = {
  'api-key': { required: ['value'], optional: [] },
  'oauth-client-credentials': {
    required: ['tokenEndpoint', 'clientId', 'clientSecret'],
    optional: ['scope', 'audience', 'tokenEndpointAuthMethod'],
  },
} as const;

/** A source of a request with the secret of its authorization. */
export interface RequestedSource {
  source: Omit<ConfiguredSource, 'authorization'>;
  authorization?: RequestedAuthorization;
}
export type RequestedAuthorization =
  | { type: 'api-key'; secret: string }
  | ({ type: 'oauth-client-credentials'; secret: string } & Omit<
      Extract<ConfiguredSource['authorization'], { type: 'oauth-client-credentials' }>,
      'type' | 'sealedSecret'
    >);

/** Member of requests and responses with the secret. */
export const SECRET_MEMBER = {
  'api-key': 'authorization.value',
  'oauth-client-credentials': 'authorization.clientSecret',
} as const;

/** @throws AppError 400 with a detail per fault; details never contain members of `authorization` */
export const parseSource = (id: string, request: ClaimSourceRequest, checkTarget: CheckTarget): RequestedSource => {
  const { name, url, requestMethod = 'GET', requestParameters = {}, authorization } = request;
  const faults: ErrorDetail[] = [];
  const fault = (param: string, msg: string, value?: unknown) =>
    faults.push({ ...(value !== undefined && { value }), msg, param, location: 'body' });
  const target = checkTarget(url);
  if ('fault' in target) fault('url', target.fault, url);
  for (const [parameter, mapping] of Object.entries(requestParameters)) {
    const msg = mappingFault(parameter, mapping);
    if (msg) fault(`requestParameters.${parameter}`, msg);
  }
  let requested: RequestedAuthorization | undefined;
  if (authorization) {
    const { type } = authorization;
    const { required, optional } = MEMBERS_OF[type];
    for (const member of required)
      if (authorization[member as keyof typeof authorization] === undefined)
        fault(`authorization.${member}`, `is required for the type ${type}`);
    for (const [member, value] of Object.entries(authorization))
      if (value !== undefined && member !== 'type' && ![...required, ...optional].includes(member as never))
        fault(`authorization.${member}`, `must be absent for the type ${type}`);
    const endpoint = authorization.tokenEndpoint === undefined ? undefined : checkTarget(authorization.tokenEndpoint);
    if (endpoint && 'fault' in endpoint) fault('authorization.tokenEndpoint', endpoint.fault);
    // RFC 9110 §5.5: it becomes a header.
    if (authorization.value !== undefined && !/^(?! )[\x20-\x7e]+(?<! )$/.test(authorization.value))
      fault('authorization.value', 'must have only printable ASCII characters, and no space at either end');
    if (!faults.length) requested = authorizationOf(authorization, endpoint);
  }
  if (faults.length) throw invalid(...faults);
  const source = { id, name, url: (target as { url: string }).url, requestMethod, requestParameters };
  return { source, ...(requested && { authorization: requested }) };
};

const authorizationOf = (
  { type, value, clientId, clientSecret, scope, audience, tokenEndpointAuthMethod }: Given,
  endpoint: ReturnType<CheckTarget> | undefined,
): RequestedAuthorization =>
  type === 'api-key'
    ? { type, secret: value! }
    : {
        type,
        secret: clientSecret!,
        tokenEndpoint: (endpoint as { url: string }).url,
        clientId: clientId!,
        ...(scope !== undefined && { scope }),
        ...(audience !== undefined && { audience }),
        tokenEndpointAuthMethod: tokenEndpointAuthMethod ?? 'client_secret_basic',
      };
type Given = NonNullable<ClaimSourceRequest['authorization']>;

const originOf = (url: string): string => new URL(url).origin;

/**
 * The stored secret, and tokens that it obtains, are sent only to the origins that it was saved for: a caller who may change an address must
 * not thereby receive it (ADR 0050).
 * @throws AppError 400
 */
export const checkSecretStays = (before: ConfiguredSource, { source, authorization }: RequestedSource): void => {
  if (!authorization) return;
  const member = SECRET_MEMBER[authorization.type];
  const stored = before.authorization;
  const moved =
    stored?.type !== authorization.type
      ? 'type'
      : originOf(before.url) !== originOf(source.url)
        ? 'url'
        : stored.type === 'oauth-client-credentials' &&
            authorization.type === 'oauth-client-credentials' &&
            originOf(stored.tokenEndpoint) !== originOf(authorization.tokenEndpoint)
          ? 'tokenEndpoint'
          : undefined;
  if (moved !== undefined)
    throw invalid({
      msg:
        moved === 'type'
          ? 'must be the secret itself, not masked, because the type changed'
          : `must be the secret itself, not masked, because the origin of ${moved} changed; the stored secret is only sent to the origin it was saved for`,
      param: member,
      location: 'body',
    });
};

/** @throws AppError 409 */
export const createSource = (state: ClaimSourcesState, source: ConfiguredSource): ClaimSourcesEvent[] => {
  if (state.length >= MAX_SOURCES) throw conflict(`A tenant can have at most ${MAX_SOURCES} claims sources`);
  return [{ type: 'ClaimSourceCreated', data: source }];
};

/** @throws AppError 404 */
export const requireSource = (state: ClaimSourcesState, id: string): ConfiguredSource => {
  const found = state.find((one) => one.id === id);
  if (!found) throw notFound();
  return found;
};

/** @throws AppError 404 */
export const changeSource = (state: ClaimSourcesState, source: ConfiguredSource): ClaimSourcesEvent[] => {
  const before = requireSource(state, source.id);
  return JSON.stringify(source) === JSON.stringify(before) ? [] : [{ type: 'ClaimSourceUpdated', data: source }];
};

/** @param usedBy ids of the credential configurations that name it @throws AppError 404, 409 */
export const removeSource = (state: ClaimSourcesState, id: string, usedBy: readonly string[]): ClaimSourcesEvent[] => {
  requireSource(state, id);
  if (usedBy.length) {
    const rest = usedBy.length > MAX_NAMED ? ` and ${usedBy.length - MAX_NAMED} more` : '';
    throw conflict(
      `The claims source is used by the credential configurations ${usedBy.slice(0, MAX_NAMED).join(', ')}${rest}`,
    );
  }
  return [{ type: 'ClaimSourceDeleted', data: { id } }];
};
