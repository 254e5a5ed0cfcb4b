import {
  bodyKindOf,
  bodyLimitOf,
  deprecationHeaders,
  describedPathsOf,
  HTTP_STATUS,
  IDEMPOTENCY_KEY,
  INTERFACE_HOSTS,
  MAX_BODY_BYTES,
  operationsIn,
  PERMISSIONS,
  refusesUnknown,
  ROLES,
  type DtoClass,
  type ErrorKind,
  type HttpBinding,
  type InterfaceName,
  type Json,
  type JsonObject,
  type JsonSchema,
  type Operation,
  type OpenApiDocument,
} from '@attestry/contracts';
import { errorExampleIn, responseExampleIn, responseTypeOf } from './examples.js';
import { readOnlyMembersOf } from './read-only-members.js';
import { resourceOf, tagsOf } from './resources.js';
import { classesWithRules, withRules } from './with-rules.js';

/** Sources of a document beside the declarations of its operations. */
export interface DocumentSources {
  /** JSON Schema of every class the operations refer to, also indirectly: types do not exist at run time. */
  shapes: Readonly<Record<string, JsonSchema>>;
  /** `vMAJOR.MINOR.PATCH` */
  version: string;
  /** The documents whose recorded examples stay: a response of one API may have its example in the other document. */
  former?: readonly OpenApiDocument[];
}

/** Servers of operations that the host of the document does not serve. A gateway serves those of its environments. */
const EXAMPLE_SERVERS = {
  auth: [{ url: 'https://auth.attestry.example', description: 'The authorization host of the environment.' }],
  contexts: [
    { url: 'https://contexts.attestry.example', description: 'The host of the JSON-LD context of the platform.' },
  ],
};

const MEMBERS_OF_OPERATIONS = `Members of operations beside those of OpenAPI:

- \`x-operation\`: its name in logs and sources; \`<service>.<use case>\` is implemented in \`apps/<service>/src\`, in a folder with the name of the use case.
- \`x-kind\`: \`command\` changes state, \`query\` does not.
- \`x-hosts\`: kinds of hosts that serve it; all others return 404.
- \`x-access\`: \`public\` needs no credentials, \`holder\` a code or token of a wallet, \`permission\` an access token of a client of the tenant with one of \`x-roles\`, \`management\` one of a management client or of a user, who must be a member of the tenant where \`x-roles\` are named.
- \`x-permission\`: what these roles permit; \`x-role-permissions\` of the security scheme has the permissions of each role.
- \`x-rate-class\`: the limit that counts its calls.
- \`x-event-prefix\` and \`x-event-category\`: names of its analytics events, \`<prefix>_START\` and \`<prefix>_SUCCESS\` or \`<prefix>_FAIL\`; with \`x-event-recorded-by\` they exist once the session or the registered wallet is known, with \`x-event-of-tenant\` the tenant lists them too if the call succeeded.
- \`x-max-body-bytes\`: maximum size of the body, if it is not 1 MiB.
- \`x-secret-members\`: members of the body whose values no error repeats.

An operation that accepts \`Idempotency-Key\` creates nothing twice with the same key. Unknown methods of a path are a 405 with \`Allow\`.`;

const ABOUT: Record<InterfaceName, { title: string; description: string }> = {
  management: {
    title: 'Attestry management API',
    description:
      'Manages environments, tenants, their clients and their members. `POST /oauth/token` issues access tokens for this API; at the authorization host it also issues access tokens for the tenant API.',
  },
  tenant: {
    title: 'Attestry tenant API',
    description:
      'API of one tenant, served at the host of the tenant: DIDs, credential configurations, offers, users, webhooks, analytics events, and the endpoints for wallets (OpenID for Verifiable Credential Issuance 1.0). `POST /oauth/token` at the authorization host issues access tokens, with the address of the tenant as `audience`.',
  },
};

/**
 * The OpenAPI 3.1 document of one API, from the declarations of its operations.
 * @throws Error when an operation names a class that has no shape
 */
export const openApiDocument = (
  name: InterfaceName,
  operations: readonly Operation[],
  { shapes, version, former = [] }: DocumentSources,
): OpenApiDocument => {
  const own = operationsIn(name, operations);
  const schemas = new Schemas(shapes);
  const paths: OpenApiDocument['paths'] = {};
  for (const operation of own)
    for (const { method, declared, path, operationId } of describedPathsOf(operation))
      (paths[path] ??= {})[method] = {
        operationId,
        ...operationObject(name, operation, declared, schemas, former),
      };
  const shapesOfErrors = new Set(own.map(({ errors }) => errors));
  const { title, description } = ABOUT[name];
  return {
    openapi: '3.1.0',
    info: {
      title,
      version,
      description: `${description}\n\n${MEMBERS_OF_OPERATIONS}`,
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: '/', description: 'The host that serves this document.' }],
    tags: tagsOf(new Set(own.map(({ http }) => resourceOf(http!.path)))),
    paths,
    components: {
      schemas: { ...schemas.used(), ...errorSchemas(shapesOfErrors, schemas) },
      responses: errorResponses(own, former),
      headers: {
        ...HEADERS,
        ...(own.some(({ http }) => http!.success === REDIRECT) && { location: LOCATION }),
        ...(own.some(({ http }) => http!.document) && DOCUMENT_HEADERS),
      },
      securitySchemes: {
        bearerAuth: {
          type: 'http',
          scheme: 'bearer',
          bearerFormat: 'JWT',
          description:
            name === 'management'
              ? 'Access token of a management client (from `POST /oauth/token`) or of a user (from the OpenID provider). Where an operation has `x-roles`, the caller must be a member of the tenant with one of them.'
              : 'Access token of a client of the tenant, or of a member by token exchange, from `POST /oauth/token` at the authorization host. The client or member needs one of the roles in `x-roles` of the operation.',
          'x-role-permissions': Object.fromEntries(ROLES.map((role) => [role, [...PERMISSIONS[role]]])),
        },
        ...(own.some(isTokenCall) && {
          clientBasic: {
            type: 'http',
            scheme: 'basic',
            description:
              'Client id and client secret, each form-urlencoded (RFC 6749 section 2.3.1), in place of the same members of the body.',
          },
        }),
        ...(own.some(needsHolderToken) && {
          holderToken: {
            type: 'http',
            scheme: 'bearer',
            description: 'Access token of a wallet, from `POST /v1/oauth/token`.',
          },
        }),
      },
    },
  };
};

const needsHolderToken = ({ access, errorStatuses }: Operation): boolean =>
  access.kind === 'holder' && (errorStatuses ?? []).includes(403);

const isTokenCall = ({ rate }: Operation): boolean => rate === 'client-token';

const operationObject = (
  name: InterfaceName,
  operation: Operation,
  path: string,
  schemas: Schemas,
  former: readonly OpenApiDocument[],
): JsonObject => {
  const { access, analytics, deprecated } = operation;
  const description = [operation.description, rolesText(operation), deprecated && deprecationText(operation)]
    .filter(Boolean)
    .join(' ');
  const body = requestBody(operation, schemas);
  const parameters = parametersOf(operation, path, schemas);
  const security: Json =
    access.kind === 'roles' || access.kind === 'management'
      ? [{ bearerAuth: [] }]
      : needsHolderToken(operation)
        ? [{ holderToken: [] }]
        : isTokenCall(operation)
          ? [{}, { clientBasic: [] }]
          : [];
  const [host, other] = INTERFACE_HOSTS[name];
  const elsewhere = (operation.http!.hosts ?? ['tenant']).includes(host) ? [] : EXAMPLE_SERVERS[other];
  return {
    summary: operation.summary,
    ...(description && { description }),
    ...(deprecated && { deprecated: true }),
    tags: [resourceOf(operation.http!.path)],
    ...(elsewhere.length > 0 && { servers: elsewhere.map((server) => ({ ...server })) }),
    security,
    'x-operation': operation.name,
    'x-kind': operation.kind,
    'x-hosts': [...(operation.http!.hosts ?? ['tenant'])],
    'x-access': access.kind === 'roles' ? 'permission' : access.kind,
    ...('roles' in access && access.roles && { 'x-roles': [...access.roles] }),
    ...('permission' in access && access.permission && { 'x-permission': access.permission }),
    ...(analytics && { 'x-event-prefix': analytics.prefix }),
    ...(analytics && { 'x-event-category': analytics.category }),
    ...(analytics?.recordedBy && { 'x-event-recorded-by': analytics.recordedBy }),
    ...(analytics?.tenantFrom && { 'x-event-of-tenant': true }),
    ...(operation.secrets && { 'x-secret-members': [...operation.secrets] }),
    'x-rate-class': operation.rate,
    ...(deprecated?.sunset !== undefined && { 'x-sunset': deprecated.sunset }),
    ...(parameters.length > 0 && { parameters }),
    ...(body && { requestBody: body }),
    ...(body &&
      bodyLimitOf(operation.http!) !== MAX_BODY_BYTES && { 'x-max-body-bytes': bodyLimitOf(operation.http!) }),
    responses: responsesOf(operation, schemas, former),
  };
};

const rolesText = ({ access }: Operation): string | undefined => {
  if (access.kind === 'management' && access.usersOnly) return 'Only users can call it, not management clients.';
  if (!('roles' in access) || !access.roles) return undefined;
  const roles = `one of the roles: ${access.roles.map((role) => `\`${role}\``).join(', ')}`;
  if (access.kind === 'roles') return `Requires ${roles}.`;
  return `Requires a member of the tenant with ${roles}${access.orSelf ? '; users need none for their own membership' : ''}.`;
};

const deprecationText = ({ deprecated }: Operation): string => {
  const { since, sunset, link } = deprecated!;
  const until = sunset === undefined ? '' : `, may be removed from ${sunset} on`;
  return `Deprecated since ${since}${until}. See <${link}>.`;
};

// ---- requests ---------------------------------------------------------------------------------------------------------

const parametersOf = (operation: Operation, path: string, schemas: Schemas): Json[] => {
  const { http, params, query = http!.acceptsQuery, idempotent } = operation;
  const parameters: Json[] = [];
  if (path.startsWith('*'))
    parameters.push({
      name: 'path',
      in: 'path',
      required: true,
      description: 'One or more path segments, separated by slashes.',
      schema: { type: 'string' },
    });
  const members = params ? (schemas.schemaOf(params.name).properties ?? {}) : {};
  for (const [, name] of path.matchAll(/:([A-Za-z]+)/g))
    parameters.push(parameter(name!, 'path', true, members[name!] ?? { type: 'string' }));
  if (query) {
    const { properties = {}, required = [] } = schemas.schemaOf(query.name);
    for (const [name, schema] of Object.entries(properties))
      parameters.push(parameter(name, 'query', required.includes(name), schema));
  }
  if (http!.acceptsHeaders) {
    const { properties = {}, required = [] } = schemas.schemaOf(http!.acceptsHeaders.name);
    for (const [name, schema] of Object.entries(properties))
      parameters.push(parameter(name, 'header', required.includes(name), schema));
  }
  if (http!.document)
    parameters.push({
      name: 'If-None-Match',
      in: 'header',
      required: false,
      description: 'Entity tags of the representations that the client has, or `*` (RFC 9110 section 13.1.2).',
      schema: { type: 'string' },
    });
  if (idempotent)
    parameters.push({
      name: 'Idempotency-Key',
      in: 'header',
      required: false,
      description:
        'Key of the call, chosen by the client. A retry with the same key and body within 24 hours returns the first result and creates nothing new.',
      schema: { type: 'string', minLength: 1, maxLength: 255, pattern: IDEMPOTENCY_KEY.source },
    });
  if (hasHandling(operation))
    parameters.push({
      name: 'Prefer',
      in: 'header',
      required: false,
      description:
        'With `handling=lenient` (RFC 7240) unknown members of the body and unknown query parameters are ignored. Otherwise they are rejected with status 400.',
      schema: { type: 'string' },
    });
  return parameters;
};

/** Whether it refuses unknown members of a body, or unknown parameters of a query. */
const hasHandling = (operation: Operation): boolean =>
  refusesUnknown(operation) && (operation.body !== undefined || operation.query !== undefined);

const parameter = (name: string, place: 'path' | 'query' | 'header', required: boolean, schema: JsonSchema): Json => {
  const { description, ...rest } = schema;
  // A list may be one parameter repeated or one with commas; this is the first.
  const isList = schema.type === 'array';
  return {
    name,
    in: place,
    required,
    ...(description !== undefined && { description }),
    ...(isList && { style: 'form', explode: true }),
    schema: rest as JsonObject,
  };
};

const JSON_TYPE = 'application/json';
const FORM_TYPE = 'application/x-www-form-urlencoded';
/** OID4VCI 1.0 §10. */
const ENCRYPTED = {
  'application/jwt': {
    schema: { type: 'string', description: 'Compact JWE of the JSON object.' },
    example: 'eyJhbGciOiJFQ0RILUVTIn0..aXY.Y2lwaGVy.dGFn',
  },
};
const MEDIA_TYPES = {
  none: [],
  json: [JSON_TYPE],
  'json-or-xml': [JSON_TYPE],
  form: [FORM_TYPE],
  'json-or-form': [JSON_TYPE, FORM_TYPE],
};

const requestBody = (operation: Operation, schemas: Schemas): Json | undefined => {
  const { http, body, example } = operation;
  const kind = bodyKindOf(http!);
  const types: [string, string][] =
    kind === 'raw'
      ? Object.entries(http!.accepts ?? {}).map(([type, dto]) => [type, dto.name])
      : body
        ? MEDIA_TYPES[kind].map((type) => [type, body.name])
        : [];
  if (types.length === 0) return undefined;
  if (refusesUnknown(operation)) schemas.close(body!.name, operation);
  return {
    required: types.some(([, dto]) => schemas.isRequired(dto)),
    content: {
      ...Object.fromEntries(
        types.map(([type, dto]) => [
          type,
          {
            schema: schemas.reference(dto) as JsonObject,
            ...(example !== undefined && { example: example as JsonObject }),
          },
        ]),
      ),
      ...(http!.mayBeEncrypted && ENCRYPTED),
    },
  };
};

// ---- answers ----------------------------------------------------------------------------------------------------------

const header = (description: string, schema: JsonObject): JsonObject => ({ description, schema });
const HEADERS: Record<string, JsonObject> = {
  'x-request-id': header('Id of the call, also in the log and in analytics events.', {
    type: 'string',
    pattern: '^[0-9A-Za-z]{22}$',
  }),
  'x-ratelimit-limit': header('Maximum number of calls in the current window.', { type: 'integer', minimum: 0 }),
  'x-ratelimit-remaining': header('Number of calls left in the current window.', { type: 'integer', minimum: 0 }),
  'x-ratelimit-reset': header('End of the current window in seconds since the epoch.', { type: 'integer', minimum: 0 }),
  'retry-after': header('Seconds to wait before the next call.', { type: 'integer', minimum: 1 }),
  'www-authenticate': header('Bearer challenge (RFC 6750); its `error_description` is the reason of the refusal.', {
    type: 'string',
  }),
  'preference-applied': header('`handling=lenient` if the request has this preference (RFC 7240); otherwise absent.', {
    type: 'string',
    const: 'handling=lenient',
  }),
  'cache-control': header('Whether and how long the response may be cached.', { type: 'string' }),
};
/** Other responses have `no-store`. */
const cacheHeaderOf = ({ cacheControl }: HttpBinding): JsonObject =>
  cacheControl === undefined
    ? {}
    : { 'cache-control': header('How long the response may be cached.', { type: 'string', const: cacheControl }) };
/** Headers of public documents. */
const DOCUMENT_HEADERS: Record<string, JsonObject> = {
  etag: header('Entity tag of the representation, another one for each encoding.', { type: 'string' }),
  vary: header('Headers of the request that select the representation, such as `Accept-Encoding`.', { type: 'string' }),
};
/** CRLs and signed CWTs have one representation; all others are compressed, or chosen by `Accept`. */
const OF_ONE_REPRESENTATION: ReadonlySet<string | undefined> = new Set(['application/pkix-crl', 'application/cwt']);
const isSelected = ({ mediaType }: NonNullable<Operation['http']>): boolean => !OF_ONE_REPRESENTATION.has(mediaType);
const documentHeadersOf = (http: NonNullable<Operation['http']>): string[] =>
  http.document ? ['etag', ...(isSelected(http) ? ['vary'] : [])] : [];
/** Headers of responses to a request that may have the header. */
const ANSWERS: Record<string, Record<string, JsonObject>> = {
  DPoP: { 'dpop-nonce': header('Nonce for the next DPoP proof (RFC 9449 section 8).', { type: 'string' }) },
  'OAuth-Client-Attestation': {
    'oauth-client-attestation-challenge': header(
      'Challenge for the next proof of possession, with the error `use_attestation_challenge`.',
      { type: 'string' },
    ),
  },
};
const LOCATION = header('Redirect target.', { type: 'string', format: 'uri' });
const EVERY_ANSWER = [
  'x-request-id',
  'x-ratelimit-limit',
  'x-ratelimit-remaining',
  'x-ratelimit-reset',
  'cache-control',
];
const headersOf = (...names: string[]): JsonObject =>
  Object.fromEntries([...EVERY_ANSWER, ...names].map((name) => [name, { $ref: `#/components/headers/${name}` }]));

/** Headers of a response to a request whose headers were not read, which no limit counts. */
const UNREAD_REQUEST_HEADERS: JsonObject = Object.fromEntries(
  ['x-request-id', 'cache-control'].map((name) => [name, { $ref: `#/components/headers/${name}` }]),
);

/**
 * Every status an operation can return: its own, those of reading headers and body, and those of any call. An unknown
 * method of a known path is a 405, and an unknown path a 404, in the error shape of the host.
 */
export const statusesOf = (operation: Operation): number[] => {
  const { http, errorStatuses = [], idempotent } = operation;
  // A body of a GET request is never read.
  const reads = http!.method !== 'GET';
  const errors = [
    ...errorStatuses,
    ...(idempotent ? [409, 422] : []),
    400,
    ...(reads ? [408, 413, 415] : []),
    429,
    431,
    500,
    503,
  ];
  return [http!.success, ...[...new Set(errors)].sort((a, b) => a - b)];
};

const responsesOf = (operation: Operation, schemas: Schemas, former: readonly OpenApiDocument[]): JsonObject => {
  const { http, errors, deprecated } = operation;
  const [success, ...refusals] = statusesOf(operation);
  const accepted = http!.acceptsHeaders
    ? Object.keys(schemas.schemaOf(http!.acceptsHeaders.name).properties ?? {})
    : [];
  const answersTo = (...names: string[]): JsonObject =>
    Object.assign({}, ...names.filter((name) => accepted.includes(name)).map((name) => ANSWERS[name])) as JsonObject;
  const extra = deprecated ? deprecationHeaderObjects(operation) : answersTo('DPoP');
  const isEmpty = success === 204 || success === REDIRECT || http!.noContent;
  const content = isEmpty ? undefined : answerSchema(operation, schemas);
  const example = exampleOf(responseExampleIn(former, operation));
  const ownHeaders = success === REDIRECT ? ['location'] : hasHandling(operation) ? ['preference-applied'] : [];
  const good: JsonObject = {
    description: SUCCESS[http!.noContent ? 204 : success!] ?? 'Success.',
    headers: { ...headersOf(...ownHeaders, ...documentHeadersOf(http!)), ...cacheHeaderOf(http!), ...extra },
    ...(content && {
      content: {
        [responseTypeOf(http!)]: { schema: content as JsonObject, ...example },
        ...Object.fromEntries(
          (http!.otherMediaTypes ?? []).map((type) => [
            type,
            { schema: content as JsonObject, ...(type.endsWith('json') && example) },
          ]),
        ),
        ...(http!.mayBeEncrypted && ENCRYPTED),
      },
    }),
  };
  const page = { 'text/html': { schema: { type: 'string' } } };
  const asking = http!.mayShowPage && { 200: { description: 'Page on which the user decides.', content: page } };
  const deferred = http!.deferred && {
    202: {
      description: 'The credentials are issued later.',
      headers: headersOf(),
      content: {
        'application/json': {
          schema: schemas.reference(http!.deferred.name) as JsonObject,
          example: { transaction_id: 'the transaction id', interval: 30 },
        },
      },
    },
  };
  const refused = refusals.map((status): [string, Json] => {
    const name = responseName(errors, status);
    if (http!.refusesOnPage && status === 400) {
      const { content: bodies, ...response } = errorResponse(operation, status, former);
      return [String(status), { ...response, content: { ...(bodies as JsonObject), ...page } }];
    }
    const own = { ...extra, ...(status === 400 && answersTo('OAuth-Client-Attestation')) };
    if (Object.keys(own).length === 0) return [String(status), { $ref: `#/components/responses/${name}` }];
    const { headers, ...response } = errorResponse(operation, status, former);
    return [String(status), { ...response, headers: { ...(headers as JsonObject), ...own } }];
  });
  const unchanged = http!.document && {
    304: {
      description: 'The client has the representation: `If-None-Match` names its entity tag.',
      headers: headersOf(...documentHeadersOf(http!)),
    },
  };
  return { ...asking, [String(success)]: good, ...deferred, ...unchanged, ...Object.fromEntries(refused) };
};

const exampleOf = (example: unknown): { example?: Json } => (example === undefined ? {} : { example: example as Json });

const deprecationHeaderObjects = ({ deprecated }: Operation): JsonObject =>
  Object.fromEntries(
    Object.entries(deprecationHeaders(deprecated!)).map(([name, value]) => [
      name,
      header(DEPRECATION_HEADERS[name]!, { type: 'string', const: value }),
    ]),
  );
const DEPRECATION_HEADERS: Record<string, string> = {
  deprecation: 'Time since which the operation is deprecated (RFC 9745).',
  sunset: 'Time from which the operation may be removed (RFC 8594).',
  link: 'Page about the deprecation.',
};

const REDIRECT = 302;
const SUCCESS: Record<number, string> = {
  200: 'Success.',
  201: 'Created.',
  204: 'Success without content.',
  [REDIRECT]: 'Redirect. OAuth errors are returned to the client in the same way.',
};

const answerSchema = ({ http, response }: Operation, schemas: Schemas): JsonSchema => {
  if (!response)
    return /json$/.test(responseTypeOf(http!)) ? { type: 'object', additionalProperties: true } : { type: 'string' };
  // Each line is one entry, which JSON Schema cannot express.
  if (http!.stream)
    return { type: 'string', description: `One ${(response as readonly [DtoClass])[0].name} per line, as JSON.` };
  if (typeof response === 'function') return schemas.reference(response.name);
  return schemas.page(response[0].name);
};

/** The page of a list. */
const pageOf = (items: JsonSchema): JsonSchema => ({
  type: 'object',
  properties: {
    data: { type: 'array', items },
    nextCursor: { type: 'string', description: 'Value of `cursor` for the next page. Absent on the last page.' },
  },
  required: ['data'],
});

// ---- errors -------------------------------------------------------------------------------------------------------------

type ErrorShape = Operation['errors'];
const SHAPE_NAME: Record<ErrorShape, string> = { tenant: 'Tenant', management: 'Management', oauth: 'OAuth' };

const STATUS_KIND = new Map(Object.entries(HTTP_STATUS).map(([kind, status]) => [status, kind as ErrorKind]));
const MEANING: Record<ErrorKind, string> = {
  invalid: 'The request is malformed or violates a rule; `details` has each fault.',
  unauthenticated: 'Missing or invalid credentials.',
  forbidden: 'The caller is not allowed to perform this operation.',
  notFound: 'The resource does not exist.',
  methodNotAllowed: 'The path does not support this method.',
  notAcceptable: 'The resource is not available in a media type that the caller accepts.',
  timeout: 'The request did not arrive in time.',
  conflict:
    'The state of the resource does not allow the operation, or the first call with this `Idempotency-Key` is in progress.',
  gone: 'The resource existed and has ended.',
  unprocessable: 'This `Idempotency-Key` was used with a different request.',
  tooLarge: 'The body is too large.',
  unsupportedMediaType: 'The media type of the body is not supported.',
  tooManyRequests:
    'A rate limit is exceeded, or the client address or the tenant has too many requests in flight. Retry after the seconds in `Retry-After`.',
  headersTooLarge: 'The headers of the request are too large together.',
  internal: 'Internal error of the platform.',
  notImplemented: 'The request needs what is not supported here.',
  unavailable: 'Temporarily unavailable. Retry later.',
};

const kindOf = (status: number): ErrorKind => {
  const kind = STATUS_KIND.get(status);
  if (!kind) throw new Error(`no error has the status ${status}`);
  return kind;
};

const responseName = (shape: ErrorShape, status: number): string => {
  const kind = kindOf(status);
  return `${SHAPE_NAME[shape]}${kind[0]!.toUpperCase()}${kind.slice(1)}`;
};

const errorResponse = (
  { errors: shape, rate }: Operation,
  status: number,
  former: readonly OpenApiDocument[],
): JsonObject => {
  const kind = kindOf(status);
  const special: Partial<Record<ErrorKind, string>> = {
    // A client that sends its secret in the body has no scheme that a challenge could name (RFC 6749 §5.2).
    ...(rate !== 'client-token' && { unauthenticated: 'www-authenticate', forbidden: 'www-authenticate' }),
    tooManyRequests: 'retry-after',
  };
  return {
    description: shape === 'oauth' ? MEANING[kind].replace('; `details` has each fault', '') : MEANING[kind],
    headers: kind === 'headersTooLarge' ? UNREAD_REQUEST_HEADERS : headersOf(...(special[kind] ? [special[kind]] : [])),
    content: {
      'application/json': {
        schema: { $ref: `#/components/schemas/${SHAPE_NAME[shape]}Error` },
        ...exampleOf(errorExampleIn(former, responseName(shape, status))),
      },
    },
  };
};

const errorResponses = (
  operations: readonly Operation[],
  former: readonly OpenApiDocument[],
): Record<string, JsonObject> =>
  Object.fromEntries(
    operations
      // Operations that accept headers have responses of their own, with further headers.
      .filter(({ deprecated, http }) => !deprecated && !http!.acceptsHeaders)
      .flatMap((operation) => {
        const [, ...refusals] = statusesOf(operation);
        return refusals.map((status) => [
          responseName(operation.errors, status),
          errorResponse(operation, status, former),
        ]);
      }),
  );

const errorSchemas = (shapes: ReadonlySet<ErrorShape>, schemas: Schemas): Record<string, JsonSchema> => {
  const word = { type: 'string', pattern: '^[A-Z][A-Za-z]+$' };
  const details = { type: 'array', items: { $ref: '#/components/schemas/ErrorDetail' } };
  const all: Record<ErrorShape, JsonSchema> = {
    tenant: {
      type: 'object',
      properties: { code: { ...word, description: 'Machine-readable code.' }, message: { type: 'string' }, details },
      required: ['code', 'message'],
    },
    management: {
      type: 'object',
      properties: {
        code: { ...word, description: 'Machine-readable code.' },
        type: { ...word, description: 'Kind of error.' },
        message: { type: 'string' },
        details,
      },
      required: ['code', 'type', 'message', 'details'],
    },
    oauth: {
      type: 'object',
      description: 'OAuth error (RFC 6749 section 5.2).',
      properties: {
        error: { type: 'string', pattern: '^[a-z_]+$' },
        error_description: { type: 'string', pattern: '^[\\x20\\x21\\x23-\\x5b\\x5d-\\x7e]*$' },
        message: { type: 'string', description: 'Only with status 429.' },
      },
      required: ['error', 'error_description'],
    },
  };
  return {
    ...([...shapes].some((shape) => shape !== 'oauth') && { ErrorDetail: schemas.schemaOf('ErrorDetail') }),
    ...Object.fromEntries([...shapes].map((shape) => [`${SHAPE_NAME[shape]}Error`, all[shape]])),
  };
};

// ---- schemas ----------------------------------------------------------------------------------------------------------

/** The shapes of one document, with the rules of their classes' decorators; records which are used. */
class Schemas {
  private readonly classes = classesWithRules();
  private readonly named = new Map<string, JsonSchema>();

  constructor(private readonly shapes: Readonly<Record<string, JsonSchema>>) {}

  /** The shape itself; the shapes it refers to are added to the used ones. */
  schemaOf(name: string): JsonSchema {
    const schema = this.shape(name);
    this.addReferences(schema);
    return schema;
  }

  isRequired(name: string): boolean {
    return (this.shape(name).required ?? []).length > 0;
  }

  /** Closes the body of an operation that refuses unknown members; the read-only members of the resource are ignored. */
  close(name: string, operation: Operation): void {
    const readOnly = Object.entries(readOnlyMembersOf(operation, this.shapes)).map(
      ([member, declared]) => [member, { ...declared, readOnly: true }] as const,
    );
    const { properties, ...closed } = this.closed(this.shape(name));
    const schema = { ...closed, properties: { ...properties, ...Object.fromEntries(readOnly) } };
    this.addReferences(schema);
    this.named.set(name, schema);
  }

  /** Its objects, and those that it refers to, refuse unknown members. */
  private closed(given: JsonSchema): JsonSchema {
    if (given.$ref !== undefined) return { ...given, ...this.closedReference(given.$ref.split('/').at(-1)!) };
    const { properties, additionalProperties: values, items, anyOf } = given;
    if (properties) {
      const members = Object.entries(properties).map(([name, member]) => [name, this.closed(member)] as const);
      return { ...given, properties: Object.fromEntries(members), additionalProperties: false };
    }
    return {
      ...given,
      ...(items && { items: this.closed(items) }),
      ...(anyOf && { anyOf: anyOf.map((one) => this.closed(one)) }),
      ...(typeof values === 'object' && { additionalProperties: this.closed(values) }),
    };
  }

  /** Responses stay open and may have the same type: its closed form has a name of its own, `DurationRequest` for `Duration`. */
  private closedReference(name: string): JsonSchema {
    const closedName = name.endsWith('Request') ? name : `${name}Request`;
    if (!this.named.has(closedName)) {
      const shape = this.shape(name);
      const closed = this.closed(shape);
      if (JSON.stringify(closed) === JSON.stringify(shape)) return this.reference(name);
      if (name !== closedName && this.shapes[closedName]) throw new Error(`${closedName} is also the name of a class`);
      this.named.set(closedName, closed);
    }
    return { $ref: `#/components/schemas/${closedName}` };
  }

  private shape(name: string): JsonSchema {
    const shape = this.shapes[name];
    if (!shape) throw new Error(`${name} has no shape: npm run docs`);
    const dto = this.classes.get(name);
    return dto ? withRules(shape, dto) : shape;
  }

  private addReferences(schema: JsonSchema): void {
    for (const other of referencesIn(schema)) this.reference(other);
  }

  reference(name: string): JsonSchema {
    if (!this.named.has(name)) {
      this.named.set(name, {});
      this.named.set(name, this.schemaOf(name));
    }
    return { $ref: `#/components/schemas/${name}` };
  }

  page(name: string): JsonSchema {
    this.named.set(`PageOf${name}`, pageOf(this.reference(name)));
    return { $ref: `#/components/schemas/PageOf${name}` };
  }

  used(): Record<string, JsonSchema> {
    return Object.fromEntries([...this.named].sort(([a], [b]) => (a < b ? -1 : 1)));
  }
}

const referencesIn = (schema: JsonSchema): string[] =>
  [...JSON.stringify(schema).matchAll(/"\$ref":"#\/components\/schemas\/([^"]+)"/g)].map(([, name]) => name!);
