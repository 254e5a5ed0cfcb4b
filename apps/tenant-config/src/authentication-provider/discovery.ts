import { Inject, Injectable } from '@nestjs/common';
import { AppError, invalidBody, shownName } from '@attestry/contracts';
import {
  AnswerTooLarge,
  DnsBudgetExceeded,
  LOGGER,
  Outbound,
  parseAnswer,
  PlatformConfig,
  TargetRefused,
  type Logger,
} from '@attestry/service-kit';
import { parse } from 'tldts';
import { exclusionOf, type IntendedClient } from './provider-requirements.js';

/** Time for the whole exchange, milliseconds. */
const DISCOVERY_MS = 5000;
/** Real documents have less than 20 KB. */
const MAX_DISCOVERY_BYTES = 262_144;

export interface Discovered {
  /** Accepted base address. */
  url: string;
  /** Spelling of the document. */
  issuer: string;
  /** Where the client's credentials are sent. */
  tokenEndpointOrigin: string;
}

export type DiscoveryDocument = Record<string, unknown> & {
  issuer: string;
  authorization_endpoint: string;
  token_endpoint: string;
};

export const tokenEndpointOriginOf = ({ token_endpoint: endpoint }: DiscoveryDocument): string =>
  new URL(endpoint).origin;

const refused = (msg: string, value?: string): AppError =>
  invalidBody('url', msg, value !== undefined && value.length <= 200 ? value : undefined);

/** The document could not be requested. */
export class DocumentUnreachable extends Error {
  override readonly name = 'DocumentUnreachable';
}

/** @param msg what the caller can correct: it must not reveal internal names */
const unreachable = (msg: string, url: string): AppError => {
  const { kind, message, details } = refused(msg, url);
  return new AppError(kind, message, { details: details!, cause: new DocumentUnreachable(msg) });
};

const withoutSlash = (url: string): string => (url.endsWith('/') ? url.slice(0, -1) : url);

const DISCOVERY_PATH = '/.well-known/openid-configuration';
/** The issuer of an address that was copied from the browser or a manual (OpenID Connect Discovery 1.0 §4). */
const issuerOf = (text: string): string => {
  const url = withoutSlash(text);
  return url.endsWith(DISCOVERY_PATH) ? url.slice(0, -DISCOVERY_PATH.length) : text;
};

/**
 * OpenID Connect Discovery 1.0 §4: a provider's metadata, fetched through the guarded client. Redirects are not followed.
 */
@Injectable()
export class Discovery {
  constructor(
    private readonly outbound: Outbound,
    private readonly config: PlatformConfig,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {}

  /** @throws 400 on `url`; 503 when the tenant's DNS look-ups took too long */
  async discoverProvider(tenantId: string, text: string, client: IntendedClient): Promise<Discovered> {
    const address = this.accepted(tenantId, text);
    const document = await this.usableDocument(tenantId, address, client, issuerOf(text));
    // The spelling is that of the document (§4.3): the text of the request, or its ASCII form.
    const url = withoutSlash(document.issuer);
    return { url, issuer: document.issuer, tokenEndpointOrigin: tokenEndpointOriginOf(document) };
  }

  /** {@link document}, if nothing in it excludes the client. @throws 400 on `url` */
  async usableDocument(tenantId: string, url: string, client: IntendedClient, given = url): Promise<DiscoveryDocument> {
    const document = await this.document(tenantId, url, given);
    const exclusion = exclusionOf(document, client);
    if (exclusion !== undefined) throw refused(exclusion, given);
    if (this.faultOfEndpoint(tenantId, document['jwks_uri']))
      throw refused('jwks_uri in the discovery document must be a public https URL', given);
    for (const name of CALLED_ENDPOINTS) {
      const fault = this.outbound.faultOfPort(tenantId, document[name]);
      if (fault !== undefined) throw refused(`${name} in the discovery document ${fault}`, given);
    }
    return document;
  }

  /**
   * The present document of an accepted address, validated.
   * @param given how the address was given
   * @throws 400 on `url`
   */
  async document(tenantId: string, url: string, given = url): Promise<DiscoveryDocument> {
    const fault = this.outbound.faultOfPort(tenantId, url);
    if (fault !== undefined) throw refused(fault, given);
    const document = await this.fetch(tenantId, url);
    // The same address may be spelled in another way; one of which a fragment was dropped is another address.
    const isSame = withoutSlash(new URL(given).href) === url;
    const wrong = faultOf(document, isSame ? [url, withoutSlash(given)] : [url], (endpoint) =>
      this.faultOfEndpoint(tenantId, endpoint),
    );
    if (wrong !== undefined) throw refused(wrong, given);
    return document as DiscoveryDocument;
  }

  /**
   * https, a public host name under a known TLD or one that the operator listed for the tenant, an allowed port, no query; a fragment and the
   * path of the discovery document are dropped.
   * @throws 400 on `url`
   */
  accepted(tenantId: string, text: string): string {
    const issuer = issuerOf(text);
    if (!URL.canParse(issuer)) throw refused('must be a valid URL', text);
    const parsed = new URL(issuer);
    parsed.hash = '';
    // The rest shows whether there was a query, which may be a lone question mark.
    const bare = issuer.split('#', 1)[0]!.includes('?') ? `${parsed.href.split('?', 1)[0]!}?` : parsed.href;
    const target = this.outbound.checkUrl(bare, tenantId);
    if ('fault' in target) throw refused(target.fault, text);
    const isListed = this.config.allowPrivateTargets || this.outbound.isListed(tenantId, target.url);
    if (!isListed && !parse(target.url).isIcann) throw refused('must have a public host name', text);
    const fault = this.outbound.faultOfPort(tenantId, target.url);
    if (fault !== undefined) throw refused(fault, text);
    return withoutSlash(target.url);
  }

  private async fetch(tenantId: string, url: string): Promise<Record<string, unknown>> {
    let answer;
    try {
      answer = await this.outbound.send(`${url}${DISCOVERY_PATH}`, {
        tenantId,
        headers: { accept: 'application/json' },
        timeoutMs: DISCOVERY_MS,
        maxBytes: MAX_DISCOVERY_BYTES,
      });
    } catch (error) {
      this.logger.info({ tenantId, url, error: String(error) }, 'discovery document not fetched');
      if (error instanceof DnsBudgetExceeded) throw error;
      if (error instanceof AnswerTooLarge) throw refused('the discovery document is too large', url);
      if (error instanceof TargetRefused) throw unreachable('must resolve to a public address', url);
      throw unreachable('the discovery document could not be fetched', url);
    }
    if (answer.status !== 200)
      throw refused(`the request for ${shownName(`${url}${DISCOVERY_PATH}`)} returned status ${answer.status}`, url);
    try {
      const document: unknown = parseAnswer(answer.body);
      if (typeof document === 'object' && document !== null && !Array.isArray(document))
        return document as Record<string, unknown>;
    } catch {
      // refused below
    }
    throw refused('the discovery document is not a JSON object', url);
  }

  /** RFC 6749 §3.1: an authorization endpoint may have a query. */
  private faultOfEndpoint(tenantId: string, endpoint: unknown): boolean {
    if (typeof endpoint !== 'string' || !URL.canParse(endpoint)) return true;
    const bare = new URL(endpoint);
    bare.search = '';
    return 'fault' in this.outbound.checkUrl(bare.href, tenantId);
  }
}

/** Endpoints that the platform calls; the authorization endpoint is opened by browsers. */
const CALLED_ENDPOINTS = ['token_endpoint', 'jwks_uri', 'userinfo_endpoint', 'pushed_authorization_request_endpoint'];

const listed = (value: unknown): value is unknown[] => Array.isArray(value);

/** Fault of a discovery document (§3 and §4.3), as an error message for the tenant. */
const faultOf = (
  document: Record<string, unknown>,
  urls: readonly string[],
  isBadEndpoint: (endpoint: unknown) => boolean,
): string | undefined => {
  for (const name of ['authorization_endpoint', 'token_endpoint', 'scopes_supported'])
    if (document[name] === undefined) return `the discovery document has no ${name}`;
  // §4.3: exactly this address; a trailing slash makes another one.
  const { issuer } = document;
  if (typeof issuer !== 'string' || !urls.includes(withoutSlash(issuer)))
    return `the issuer in the discovery document must be this URL, ${shownName(urls[0])}, and is ${shownName(issuer)}`;
  for (const name of ['authorization_endpoint', 'token_endpoint'])
    if (isBadEndpoint(document[name])) return `${name} in the discovery document must be a public https URL`;
  const { scopes_supported: scopes, response_types_supported: types, grant_types_supported: grants } = document;
  if (!listed(scopes) || !scopes.includes('openid')) return 'the provider does not support the scope openid';
  if (types !== undefined && !(listed(types) && types.includes('code')))
    return 'the provider does not support the authorization code flow';
  if (grants !== undefined && !(listed(grants) && grants.includes('authorization_code')))
    return 'the provider does not support the authorization code flow';
  return undefined;
};
