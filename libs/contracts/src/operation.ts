import { ROLES, rolesWith, type Permission, type Role } from './roles.js';
import type { BusParticipant, ServiceName } from './services.js';

/**
 * Where an operation is served: the management host, an authorization host, a tenant's own host, the domain a tenant has
 * verified, or the host of `CONTEXT_URL`.
 */
export type Api = 'management' | 'auth' | 'tenant' | 'custom-domain' | 'contexts';

export type Access =
  /** No credentials. */
  | { kind: 'public' }
  /** A client or a member of the tenant with one of these roles. */
  | { kind: 'roles'; permission: Permission; roles: readonly Role[] }
  /** A management client or a user, restricted by {@link userAccess} or {@link MemberAccess}. The service checks it. */
  | ({ kind: 'management' } & Partial<Pick<MemberAccess, 'permission' | 'roles' | 'orSelf'>> & { usersOnly?: true })
  /** A wallet's code or token, presented in the request and checked by the service. */
  | { kind: 'holder' }
  /** Only these participants of the bus, on their own behalf and some for the tenant of their own request; no HTTP. */
  | { kind: 'internal'; callers: readonly BusParticipant[]; forTenant: boolean };
/** Members of the tenant in the path with one of these roles. */
export interface MemberAccess {
  kind: 'management';
  /** Absent where every member has access. */
  permission?: Permission;
  roles: readonly Role[];
  /** The user in the path has access too, with any role. */
  orSelf?: true;
}
type AccessOf<Kind extends Access['kind']> = Extract<Access, { kind: Kind }>;

export const publicAccess: AccessOf<'public'> = { kind: 'public' };
/** Every management client and every user. */
export const managementAccess = { kind: 'management' } as const;
/** Users; management clients get 403. */
export const userAccess = { kind: 'management', usersOnly: true } as const;
/** Every member of the tenant. */
export const memberAccess: MemberAccess = { kind: 'management', roles: ROLES };
/** Members of the tenant whose roles carry the permission. */
export const memberWith = (permission: Permission, orSelf?: 'orSelf'): MemberAccess => ({
  kind: 'management',
  permission,
  roles: rolesWith(permission),
  ...(orSelf && { orSelf: true }),
});
export const holderAccess: AccessOf<'holder'> = { kind: 'holder' };
const internal = <Tenant extends boolean>(callers: BusParticipant[], forTenant: Tenant) =>
  ({ kind: 'internal', callers, forTenant }) as const;
export const calledBy = (...callers: BusParticipant[]) => internal(callers, false);
export const calledForTenant = (...callers: BusParticipant[]) => internal(callers, true);
/** Roles that carry the permission (table in roles.ts). */
export const requires = (permission: Permission): AccessOf<'roles'> => ({
  kind: 'roles',
  permission,
  roles: rolesWith(permission),
});

// eslint-disable-next-line @typescript-eslint/no-explicit-any -- a DTO class of any shape
export type DtoClass<T = any> = new () => T;

/** `push`: a wallet call that stores something; it may take only a part of the wallet limits. */
export type RateClass = 'api' | 'client-token' | 'wallet' | 'push' | 'public';

export interface HttpBinding {
  method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  /** `/v1/dids/:id`; a leading `*` matches any prefix, as in `*\/did.json`. */
  path: string;
  /** Further paths of the same operation. */
  alsoAt?: readonly string[];
  success: number;
  /** Hosts that serve it; default `['tenant']`. */
  hosts?: readonly Api[];
  /** Verifiers need it: the host of a deleted tenant serves it until the tenant is purged, and then answers 410 (ADR 0081). */
  afterDeletion?: true;
  /** `json` (default for POST and PUT), `json-or-xml` (the members are the root's child elements), `form` (application/x-www-form-urlencoded), `json-or-form`, or `raw`: body, headers and method reach the service as they came. */
  body?: 'json' | 'json-or-xml' | 'form' | 'json-or-form' | 'raw' | 'none';
  /** Maximum size of the body in bytes; default {@link MAX_BODY_BYTES}, or {@link UNREAD_BODY_BYTES} where no body is read. */
  maxBodyBytes?: number;
  /** The response to a success other than 204 or 302 has no content. */
  noContent?: true;
  /** A public document: the gateway keeps its bytes, with an `ETag`, and compresses it (ADR 0097). */
  document?: true;
  /** Set when the response may be cached; otherwise `Cache-Control: no-store`. */
  cacheControl?: string;
  /** Media type of the response; default `application/json`. */
  mediaType?: string;
  /** Further ones, by `Accept` or by what is retrieved. */
  otherMediaTypes?: readonly string[];
  /** Shapes of a raw body by media type, for the interface definition; the service parses and checks it. */
  accepts?: Readonly<Record<string, DtoClass>>;
  /** Shape of the query of a raw request, for the interface definition. */
  acceptsQuery?: DtoClass;
  /** Shape of the headers of a raw request, for the interface definition. With `DPoP` the response has a header `DPoP-Nonce`. */
  acceptsHeaders?: DtoClass;
  /** The JSON of a raw request, and of its response, may be encrypted (OID4VCI 1.0 §10). */
  mayBeEncrypted?: true;
  /** Instead of the success it may return a page (200) on which the person at the browser decides (ADR 0085). */
  mayShowPage?: true;
  /** Shape of a 202, which it may return instead of the success: the credentials are issued later (OID4VCI 1.0 section 8.3). */
  deferred?: DtoClass;
  /** A 400 may be a page for the person at the browser (ADR 0052). */
  refusesOnPage?: true;
  /**
   * For a list that is returned in one response: the gateway queries page after page and sends each entry as a line of JSON
   * (application/x-ndjson). One page is in memory at a time, on either side of the bus. Trailers have count and digest.
   */
  stream?: true;
  /** Columns of a stream that `format=csv` in the query returns as CSV: paths of members of an entry. Permanent: programs read them. */
  csvColumns?: readonly string[];
}

/** 1 MiB. */
export const MAX_BODY_BYTES = 1_048_576;
/** Maximum size of a body that is not read, bytes. */
export const UNREAD_BODY_BYTES = 16_384;

/** How the gateway reads a body. */
export const bodyKindOf = ({ method, body }: HttpBinding): NonNullable<HttpBinding['body']> =>
  body ?? (method === 'POST' || method === 'PUT' ? 'json' : 'none');

/** Maximum size of a body that the gateway reads, bytes. */
export const bodyLimitOf = (http: HttpBinding): number =>
  http.maxBodyBytes ?? (bodyKindOf(http) === 'none' ? UNREAD_BODY_BYTES : MAX_BODY_BYTES);

/** Whether clients or members call it: unknown members of its body and query are refused (ADR 0065). */
export const refusesUnknown = ({ http, access }: Pick<Operation, 'http' | 'access'>): boolean =>
  http !== undefined && (access.kind === 'roles' || access.kind === 'management');

/** Deprecation of an operation: shown in the interface definition and in the headers of every response. */
export interface Deprecated {
  /** ISO 8601 time from which it is deprecated. RFC 9745 */
  since: string;
  /** ISO 8601 time from which it may be removed. RFC 8594 */
  sunset?: string;
  /** URI reference of a page with the reason and the replacement. */
  link: string;
}

export interface Analytics {
  /** Event name without `_START`, `_SUCCESS`, `_FAIL`. */
  prefix: string;
  /** Kebab-case group (specification notes, Categories). */
  category: string;
  /** `service` on wallet endpoints: a call is recorded once it names a session (ADR 0072) or a registered wallet (ADR 0087). Default `gateway`. */
  recordedBy?: 'gateway' | 'service';
  /**
   * The resource that a call is about; absent for lists. `stream`: the id in the name of the stream of the record's event; `event.<member>`:
   * a member of that event's data; `tenant` and `caller`: their ids.
   */
  object?: { type: string; from: 'stream' | 'tenant' | 'caller' | `params.${string}` | `event.${string}` };
  /** Members of the record's event that the metadata of SUCCESS have; absent members are left out. */
  metadata?: readonly string[];
  /**
   * `outside`: the command has effects before its append, or in other services: START is acknowledged before it begins, and its outcome before
   * its answer (ADR 0072).
   */
  effects?: 'outside';
  /**
   * On the management host: the tenant a call is about, whose own events list it too. Taken from the parameter `tenantId` or the response's
   * `id`. Never for a caller without access, which must not add events to a tenant.
   */
  tenantFrom?: 'params' | 'answer';
}

/** How long a result is remembered under its `Idempotency-Key`. */
export const IDEMPOTENCY_TTL_MS = 24 * 3_600_000;
/** Allowed values of the header; compared verbatim, quotes included. */
export const IDEMPOTENCY_KEY = /^[\x21-\x7e]{1,255}$/;

export interface OperationDeclaration<Body, Params, Query, Response> {
  /** `<service>.<use-case>` or `<service>.<use-case>.<variant>`; the use case is the folder's name. */
  name: `${ServiceName}.${string}`;
  /**
   * Id in the interface definitions, which names functions of generated clients: what the operation does. Default: use case and variant of the
   * name, `createDid` for `dids.create-did`.
   */
  operationId?: string;
  /** One line in the imperative, without a full stop. */
  summary: string;
  /** Further sentences for callers, each with a full stop. */
  description?: string;
  /** Absent for operations between services. */
  http?: HttpBinding;
  access: Access;
  analytics?: Analytics;
  /** How errors are rendered (specification notes, Errors). Default: as the API of its host does, `management` or `tenant`. */
  errors?: 'tenant' | 'management' | 'oauth';
  /** `command` changes state: its record is in the event that it appends, and it is never sent again. Default: `query` for GET. */
  kind?: 'command' | 'query';
  rate?: RateClass;
  body?: DtoClass<Body>;
  /** Body of a call that succeeds, for the interface definition; a test sends it, with its own ids, names of hosts and secrets. */
  example?: NoInfer<Body>;
  params?: DtoClass<Params>;
  query?: DtoClass<Query>;
  /**
   * Class of the resource as it is read. Its members that the body does not declare are read-only: they are ignored in the body, as
   * those of the response are for PUT (ADR 0065).
   */
  resource?: DtoClass;
  /** Class of the response; `[Class]` for a page of them. Absent for empty responses. */
  response?: DtoClass<Response> | readonly [DtoClass];
  /** Permission that the caller also needs for every member of the body except these. */
  memberAccess?: { permission: Permission; except: readonly string[] };
  /** Body members whose values are never echoed in error details. */
  secrets?: readonly string[];
  /** Deadline, milliseconds; default 10 s. */
  timeoutMs?: number;
  /** Statuses besides the success status, for the interface definition; those that follow from the access are added. */
  errorStatuses?: readonly number[];
  /** Version of the interface definition that added it, `vMAJOR.MINOR.PATCH`: the changelog lists it there. */
  since?: string;
  deprecated?: Deprecated;
  /**
   * It creates something and accepts the header `Idempotency-Key`: the same call with the same key returns the first result
   * for {@link IDEMPOTENCY_TTL_MS}. Its handler takes ids and secrets from the call (`idFor`, `bytesFor`) and decides with `once`.
   */
  idempotent?: true;
  /** Its context has the address that the request was sent to, `publicUrl`. */
  publicUrl?: true;
}

/** Members of a declaration that decide the context of the operation. */
type DeclaredContext = Pick<
  OperationDeclaration<unknown, unknown, unknown, unknown>,
  'access' | 'http' | 'idempotent' | 'publicUrl'
>;
type ForTenant<D> = D extends { access: { forTenant: infer Tenant } }
  ? Tenant
  : D extends { http: { hosts: readonly (infer H)[] } }
    ? H extends 'tenant' | 'custom-domain'
      ? true
      : false
    : true;
type Declared<D> = Pick<D, keyof D & ('access' | 'idempotent' | 'publicUrl')> & { readonly forTenant: ForTenant<D> };

/** A declared operation with the values derived from its declaration. */
export interface Operation<
  Body = unknown,
  Params = unknown,
  Query = unknown,
  Response = unknown,
> extends OperationDeclaration<Body, Params, Query, Response> {
  readonly service: ServiceName;
  readonly useCase: string;
  readonly variant: string | undefined;
  readonly operationId: string;
  readonly kind: 'command' | 'query';
  readonly errors: 'tenant' | 'management' | 'oauth';
  readonly rate: RateClass;
  /** `op.<name>` */
  readonly subject: string;
  /** Whether it is served on hosts of tenants, or called for a tenant. */
  readonly forTenant: boolean;
}

/** The request as a service receives it. Absent parts are empty objects. */
export interface OperationRequest<Body = unknown, Params = unknown, Query = unknown> {
  body: Body;
  params: Params;
  query: Query;
  /** Set by the gateway: unknown members of body and query are refused (ADR 0065); otherwise they are dropped. */
  strict?: true;
  /** Only for `body: 'raw'`. */
  raw?: RawRequest;
  /** Only for `stream`, set by the gateway: cursor of the next page; absent for the first. */
  page?: { cursor?: string };
}

export interface RawRequest {
  method: string;
  /** Path and query as received. */
  url: string;
  /** Lower-case names; repeated headers joined by `, `. */
  headers: Record<string, string>;
  /** UTF-8 text of the body. */
  text: string;
}

/** Type and subtype of a content type in lower case, without parameters; '' when the header is absent. */
export const mediaTypeOf = (contentType: string | undefined): string =>
  (contentType ?? '').split(';', 1)[0]!.trim().toLowerCase();

/** A response with its own status or headers; every other response is the body itself. */
export interface HttpAnswer {
  $http: {
    status?: number;
    headers?: Record<string, string>;
    body?: unknown;
    /** Instead of `body`: bytes, of the media type that the operation declares. */
    base64?: string;
    /** For the operation event SUCCESS: numbers and ids, never values of a request. */
    metadata?: Record<string, unknown>;
  };
}
/** A public document, for a caller that keeps its bytes. */
export interface DocumentAnswer {
  $document: {
    /** SHA-256 of kind and content, base64url. */
    digest: string;
    kind: 'json' | 'text' | 'base64';
    headers?: Record<string, string>;
    /** Absent when the caller named the digest. */
    content?: string;
  };
}
export const httpAnswer = (answer: HttpAnswer['$http']): HttpAnswer => ({ $http: answer });

/** RFC 9745 §2.1: a date of RFC 9651; RFC 8594 §3: an HTTP date; the link relations of both. Lower-case names. */
export const deprecationHeaders = ({ since, sunset, link }: Deprecated): Record<string, string> => ({
  deprecation: `@${Math.floor(Date.parse(since) / 1000)}`,
  ...(sunset !== undefined && { sunset: new Date(sunset).toUTCString() }),
  link: [`<${link}>; rel="deprecation"`, ...(sunset === undefined ? [] : [`<${link}>; rel="sunset"`])].join(', '),
});

/** Statuses of callers without access (ADR 0066). A holder's are declared: some endpoints of wallets read no token. */
const refusalsOf = (access: Access): number[] => {
  if (access.kind !== 'roles' && access.kind !== 'management') return [];
  const isOpen = access.kind === 'management' && !access.usersOnly && !access.permission;
  return isOpen ? [401] : [401, 403];
};

const camelCase = (name: string): string => name.replace(/-(.)/g, (_all, letter: string) => letter.toUpperCase());

/**
 * Declares an operation once: path, status, access, DTOs, error shape, subject and analytics prefix. Routes, reference
 * pages and the test suite that walks the registry derive from it.
 */
export const defineOperation = <Body, Params, Query, Response, const D extends DeclaredContext>(
  declaration: OperationDeclaration<Body, Params, Query, Response> & D,
): Operation<Body, Params, Query, Response> & Declared<D> => {
  const { access, http } = declaration;
  const [service, useCase, variant] = declaration.name.split('.') as [ServiceName, string, string | undefined];
  const kind = declaration.kind ?? (http?.method === 'GET' ? 'query' : 'command');
  const rate = declaration.rate ?? (access.kind === 'public' ? 'public' : access.kind === 'holder' ? 'wallet' : 'api');
  const hosts: readonly Api[] = http?.hosts ?? ['tenant'];
  const isOfTenants = hosts.includes('tenant') || hosts.includes('custom-domain');
  const errorStatuses = [
    ...new Set([...(declaration.errorStatuses ?? []), ...refusalsOf(access), ...(http?.afterDeletion ? [410] : [])]),
  ];
  return Object.freeze({
    ...declaration,
    service,
    useCase,
    variant,
    operationId: declaration.operationId ?? camelCase(variant === undefined ? useCase : `${useCase}-${variant}`),
    kind,
    errors: declaration.errors ?? (hosts.includes('management') ? 'management' : 'tenant'),
    rate,
    subject: `op.${declaration.name}`,
    errorStatuses: errorStatuses.sort((a, b) => a - b),
    forTenant: (access.kind === 'internal' ? access.forTenant : isOfTenants) as boolean & ForTenant<D>,
  });
};
