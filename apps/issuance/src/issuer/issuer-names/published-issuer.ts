import { Inject, Injectable } from '@nestjs/common';
import { invalidBody, type TenantContext } from '@attestry/contracts';
import { jwkThumbprint } from '@attestry/keys';
import { AnswerTooLarge, DnsBudgetExceeded, LOGGER, Outbound, type Logger } from '@attestry/service-kit';
import { IssuerSigners } from '../../certificates/issuer-certificates/issuer-signers.js';
import { isObject } from '../../reading/raw-request/raw-request.js';
import { MOST_BYTES } from '../published-size/published-size.decisions.js';

type Tenant = Pick<TenantContext, 'id' | 'baseUrl'>;

const TIMEOUT_MS = 5000;
/** Issuer metadata of a tenant have at most as many bytes for its configurations, and a few for the rest. */
const MAX_BYTES = 2 * MOST_BYTES;
/** Most characters of a value that an error message shows. */
const MAX_SHOWN = 200;

/** Fault of the answer of an address. */
class Refused extends Error {}

/** Documents of an issuer on the server of its custom domain: wallets and verifiers that know the issuer by this name read it there. */
@Injectable()
export class PublishedIssuer {
  constructor(
    private readonly outbound: Outbound,
    private readonly signers: IssuerSigners,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {}

  /**
   * Whether both documents are those of this tenant.
   * @param issuer credential issuer identifier, whose signer exists
   * @throws AppError 400 that says what was found
   */
  async check(tenant: Tenant, issuer: string): Promise<void> {
    const checks = [
      this.checkDocument(tenant, `${issuer}/.well-known/openid-credential-issuer`, (document) =>
        metadataFault(document, { issuer, baseUrl: tenant.baseUrl }),
      ),
      this.checkDocument(tenant, `${issuer}/.well-known/jwt-vc-issuer`, async (document) =>
        keysFault(document, issuer, (await this.signers.publicKeys(tenant.id, issuer)).map(jwkThumbprint)),
      ),
    ];
    // Both end, so that neither rejects unobserved.
    for (const result of await Promise.allSettled(checks)) if (result.status === 'rejected') throw result.reason;
  }

  private async checkDocument(
    { id: tenantId }: Tenant,
    url: string,
    faultOf: (document: Record<string, unknown>) => string | undefined | Promise<string | undefined>,
  ): Promise<void> {
    try {
      const fault = await faultOf(await this.fetch(tenantId, url));
      if (fault !== undefined) throw new Refused(fault);
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      this.logger.info({ tenantId, url, reason: error.message, error: String(error.cause) }, 'issuer name refused');
      throw invalidBody('issuerName', `must not be domain: ${url} ${error.message}`, 'domain');
    }
  }

  private async fetch(tenantId: string, url: string): Promise<Record<string, unknown>> {
    let answer;
    try {
      const headers = { accept: 'application/json' };
      answer = await this.outbound.send(url, { tenantId, headers, timeoutMs: TIMEOUT_MS, maxBytes: MAX_BYTES });
    } catch (error) {
      if (error instanceof DnsBudgetExceeded) throw error;
      if (error instanceof AnswerTooLarge) throw new Refused(`has more than ${MAX_BYTES} bytes`);
      if ((error as { name?: unknown }).name === 'TimeoutError')
        throw new Refused(`was not answered within ${TIMEOUT_MS / 1000} seconds`);
      // One text for whatever the guard or the network refused: nothing is learnt about inner networks.
      throw new Refused('could not be fetched', { cause: error });
    }
    const { status, body } = answer;
    if (status >= 300 && status < 400)
      throw new Refused(`was answered with the redirect ${status}; the document must be served there`);
    if (status !== 200) throw new Refused(`was answered with status ${status}`);
    let document: unknown;
    try {
      document = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(body));
    } catch {
      throw new Refused('is not JSON');
    }
    if (!isObject(document)) throw new Refused('is not a JSON object');
    return document;
  }
}

/** OID4VCI 1.0 §12.2.4. The authorization server tells the tenants of the platform apart. */
const metadataFault = (
  document: Record<string, unknown>,
  { issuer, baseUrl }: { issuer: string; baseUrl: string },
): string | undefined => {
  const { credential_issuer: found, authorization_servers: servers } = document;
  if (found !== issuer) return `has credential_issuer ${shown(found)} instead of ${issuer}`;
  if (!Array.isArray(servers) || servers.length !== 1 || servers[0] !== baseUrl)
    return `has authorization_servers ${shown(servers)} instead of ["${baseUrl}"]`;
  return undefined;
};

/** SD-JWT VC, JWT VC Issuer Metadata. @param kids of the signers of this issuer, newest first */
const keysFault = (
  { issuer: found, jwks }: Record<string, unknown>,
  issuer: string,
  [newest]: readonly string[],
): string | undefined => {
  if (found !== issuer) return `has issuer ${shown(found)} instead of ${issuer}`;
  const keys: unknown = isObject(jwks) ? jwks['keys'] : undefined;
  const kids = Array.isArray(keys) ? keys.map((key: unknown) => (isObject(key) ? key['kid'] : undefined)) : [];
  return newest !== undefined && kids.includes(newest) ? undefined : 'does not have the key that signs credentials';
};

/** JSON of a value, bounded, without control characters. */
const shown = (value: unknown): string => {
  const text = JSON.stringify(value) ?? 'undefined';
  return text.length <= MAX_SHOWN ? text : `${text.slice(0, MAX_SHOWN)}…`;
};
