import { AppError, type Operation } from '@attestry/contracts';
import type { PlatformConfig } from '@attestry/service-kit';
import type { HostKind, ResolvedHost } from '../request/hosts.js';
import { PathTree, segmentsOf, type FoundPath } from './path-tree.js';

/** Longest path that is compared with declared ones, and most segments. */
const MAX_LENGTH = 300;
const MAX_SEGMENTS = 10;

/** Segments that other platforms put before the version. */
const PREFIXES: readonly string[] = ['api', 'rest', 'core'];
/** Paths of other platforms whose nearest path by spelling is another document. */
const SAME_PURPOSE: Readonly<Record<string, string>> = {
  '/.well-known/openid-configuration': '/.well-known/oauth-authorization-server',
};

/** `/token`, `/oauth/token`, `/v2/oauth2/token`, `/realms/x/protocol/openid-connect/token`. */
const isTokenPath = (segments: readonly string[]): boolean =>
  /^tokens?$/i.test(segments.at(-1) ?? '') &&
  (segments.length <= 3 || segments.some((segment) => /oauth|oidc|openid/i.test(segment)));

/** Without or with another version, and without the prefix of another platform; the first is the path itself. */
const variantsOf = (segments: readonly string[], versions: readonly string[]): string[][] => {
  const [first = '', ...rest] = segments;
  const bare = PREFIXES.includes(first.toLowerCase()) ? rest : segments;
  const unversioned = /^v\d{1,3}$/i.test(bare[0] ?? '') ? bare.slice(1) : bare;
  return [[...segments], [...bare], ...versions.map((version) => [version, ...unversioned])];
};

/** Errors of paths that no operation has. The declared paths are compared, and only these are named: nothing of the request is repeated. */
export class UnknownPaths {
  private readonly trees: Readonly<Record<HostKind, PathTree>>;

  constructor(
    operations: readonly Operation[],
    private readonly config: Pick<PlatformConfig, 'publicScheme' | 'managementDomain' | 'environments'>,
  ) {
    const treeOf = (api: HostKind) =>
      new PathTree(
        operations.flatMap(({ http }) =>
          http && (http.hosts ?? ['tenant']).some((served) => served === api)
            ? [http.path, ...(http.alsoAt ?? [])]
            : [],
        ),
      );
    this.trees = {
      management: treeOf('management'),
      auth: treeOf('auth'),
      tenant: treeOf('tenant'),
      'custom-domain': treeOf('custom-domain'),
      contexts: treeOf('contexts'),
      platform: treeOf('platform'),
    };
  }

  /** 404 that says which path is meant, where it is, or where the paths are listed. */
  notFound(host: ResolvedHost, path: string): AppError {
    return new AppError('notFound', `No operation has this path${this.adviceOf(host, path)}`);
  }

  private adviceOf(host: ResolvedHost, path: string): string {
    const listed = `; the paths are listed at ${this.documentationOf(host)}`;
    if (path.length > MAX_LENGTH) return listed;
    const segments = segmentsOf(path);
    if (segments.length === 0 || segments.length > MAX_SEGMENTS) return listed;
    if (isTokenPath(segments)) return `; ${this.tokenEndpoints(host)}`;
    const elsewhere = this.elsewhere(host, segments);
    if (elsewhere !== undefined) return ` at this host; ${elsewhere}`;
    const nearest = this.nearest(host.api, segments);
    return nearest === undefined ? listed : `; did you mean ${nearest}?`;
  }

  /** Nearest path of the host. */
  private nearest(api: HostKind, segments: readonly string[]): string | undefined {
    const tree = this.trees[api];
    const same = SAME_PURPOSE[`/${segments.join('/')}`];
    if (same !== undefined) return tree.nearest(segmentsOf(same))?.differing === 0 ? same : undefined;
    let best: FoundPath | undefined;
    for (const variant of variantsOf(segments, tree.versions)) {
      const found = tree.nearest(variant);
      if (found && found.differing < (best?.differing ?? Infinity)) best = found;
    }
    return best?.path ?? tree.endingIn(segments.at(-1)!);
  }

  /** Where another kind of host has exactly this path. */
  private elsewhere(host: ResolvedHost, segments: readonly string[]): string | undefined {
    const has = (api: HostKind) => {
      const found = host.api === api ? undefined : this.trees[api].nearest(segments);
      return found?.differing === 0 ? found.path : undefined;
    };
    const ofTenant = has('tenant');
    if (ofTenant !== undefined) return `${ofTenant} is served at ${this.tenantUrl(host)}`;
    const ofManagement = has('management');
    if (ofManagement !== undefined) return `${ofManagement} is served at ${this.managementUrl}`;
    const ofAuth = has('auth');
    if (ofAuth !== undefined) return `${ofAuth} is served at ${this.authUrl(host)}`;
    return undefined;
  }

  private tokenEndpoints(host: ResolvedHost): string {
    const ofClients = `access tokens of clients are issued by POST ${this.authUrl(host)}/oauth/token`;
    const isTenant = host.api === 'tenant' || host.api === 'custom-domain';
    return isTenant ? `${ofClients}, those of wallets by POST ${this.tenantUrl(host)}/v1/oauth/token` : ofClients;
  }

  private documentationOf(host: ResolvedHost): string {
    return `${host.tenant ? this.tenantUrl(host) : this.managementUrl}/docs`;
  }

  /** URL of the host's tenant, which its public documents name; without a tenant the form of one, so that no tenant is named. */
  private tenantUrl({ tenant, publicUrl }: ResolvedHost): string {
    return tenant?.baseUrl ?? `${this.config.publicScheme}://<subdomain>.${this.environmentOf(publicUrl).domain}`;
  }

  private get managementUrl(): string {
    return `${this.config.publicScheme}://${this.config.managementDomain}`;
  }

  private authUrl({ tenant, publicUrl }: ResolvedHost): string {
    const { authorizationServerDomain } = this.environmentOf(tenant?.baseUrl ?? publicUrl);
    return `${this.config.publicScheme}://${authorizationServerDomain}`;
  }

  /** The environment of a tenant's host or of an authorization server; the first one for any other. */
  private environmentOf(url: string): PlatformConfig['environments'][number] {
    const { environments, publicScheme } = this.config;
    const [longest] = environments
      .filter(({ domain }) => url.endsWith(`.${domain}`))
      .sort((a, b) => b.domain.length - a.domain.length);
    const isServer = (address: string) => url === `${publicScheme}://${address}`;
    const named = environments.find(({ authorizationServerDomain }) => isServer(authorizationServerDomain));
    return named ?? longest ?? environments[0]!;
  }
}
