import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { Inject, Injectable } from '@nestjs/common';
import {
  differingOperations,
  INTERFACE_DOCUMENTS,
  type InterfaceName,
  type Json,
  type OpenApiDocument,
  type Operation,
} from '@attestry/contracts';
import { PlatformConfig } from '@attestry/service-kit';
import type { KeptDocument } from '../documents/public-documents.js';
import type { HostKind, ResolvedHost } from '../request/hosts.js';
import { authUrlOf, escaped, otherServersOf, type Server } from './host-addresses.js';
import { START_SCRIPT, START_STYLE } from './viewer-files.js';
import { READ_DOCUMENT, SERVED_OPERATIONS, type ReadDocument } from './served-operations.js';

/** A GET response of the gateway itself. */
export interface InterfaceDocument {
  headers: Readonly<Record<string, string>>;
  kept: KeptDocument;
}

/**
 * Everything the viewer needs comes from this host; the page has no inline scripts.
 * @param called further origins whose operations the document describes
 */
const contentSecurityPolicy = (called: readonly string[]): string =>
  [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self' data:",
    `connect-src ${["'self'", ...called].join(' ')}`,
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; ');

interface TokenCall {
  address: string;
  /** Audience of the tenant; absent for the management API. */
  audience?: string;
}

/** For a shell: no value has a quote. */
const tokenCommand = ({ address, audience }: TokenCall): string => {
  const body = {
    grant_type: 'client_credentials',
    ...(audience && { audience }),
    client_id: '<client_id>',
    client_secret: '<client_secret>',
  };
  return `curl ${address} -H 'content-type: application/json' -d '${JSON.stringify(body)}'`;
};

const page = (title: string, call: TokenCall): string => `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title}</title>
<link rel="icon" href="/docs/favicon-32x32.png">
<link rel="stylesheet" href="/docs/swagger-ui.css">
<link rel="stylesheet" href="/docs/start.css">
</head>
<body>
<details id="token-call" open>
<summary>Access token</summary>
<p>Request an access token with this command, choose Authorize and enter <code>access_token</code> of the answer, without <code>Bearer</code>, in the field of <code>bearerAuth</code>. The page keeps it until the tab is closed.</p>
<pre><code>${escaped(tokenCommand(call))}</code></pre>
</details>
<div id="viewer"></div>
<noscript>This page needs JavaScript. The OpenAPI document is at <a href="/openapi.json">/openapi.json</a>.</noscript>
<script src="/docs/swagger-ui-bundle.js"></script>
<script src="/docs/start.js"></script>
</body>
</html>
`;

/** Files of the viewer's package that are served, by name. */
const VIEWER_FILES: Record<string, string> = {
  'swagger-ui-bundle.js': 'text/javascript; charset=utf-8',
  'swagger-ui.css': 'text/css; charset=utf-8',
  'favicon-32x32.png': 'image/png',
};

/** The document with the servers of this platform where it has those of an example. */
const withServers = (document: OpenApiDocument, servers: readonly Server[]): OpenApiDocument => ({
  ...document,
  paths: mapValues(document.paths, (methods) =>
    mapValues(methods, (operation) =>
      'servers' in operation ? { ...operation, servers: servers.map((server): Json => ({ ...server })) } : operation,
    ),
  ),
});
const mapValues = <T>(record: Record<string, T>, map: (value: T) => T): Record<string, T> =>
  Object.fromEntries(Object.entries(record).map(([name, value]) => [name, map(value)]));

const INTERFACES: Partial<Record<HostKind, InterfaceName>> = { management: 'management', tenant: 'tenant' };

/**
 * The interface of a host: `/openapi.json`, the committed document with the servers of the environments, and `/docs`, which shows it. Not
 * operations: they need no service, and are the same for every caller.
 */
@Injectable()
export class InterfaceDocuments {
  private readonly viewer = dirname(createRequire(import.meta.url).resolve('swagger-ui-dist/package.json'));
  /** Made on the first request, then cached: a megabyte and a half that many processes never need. */
  private readonly cached = new Map<string, InterfaceDocument>();

  /** @throws Error that names the operations in which a document and the declarations differ */
  constructor(
    @Inject(SERVED_OPERATIONS) operations: readonly Operation[],
    @Inject(READ_DOCUMENT) private readonly read: ReadDocument,
    private readonly config: PlatformConfig,
  ) {
    const names = Object.keys(INTERFACE_DOCUMENTS) as InterfaceName[];
    const faults = names.flatMap((name) =>
      differingOperations(name, read(name), operations).map((fault) => `${name} API: ${fault}`),
    );
    if (faults.length > 0)
      throw new Error(`the OpenAPI documents differ from the declared operations (npm run docs): ${faults.join('; ')}`);
  }

  /** `undefined` when no document has the path. */
  find(host: ResolvedHost, path: string): InterfaceDocument | undefined {
    const name = INTERFACES[host.api];
    if (!name || (path !== '/openapi.json' && path !== '/docs' && !path.startsWith('/docs/'))) return undefined;
    if (path === '/docs') return this.page(name, host);
    const key = `${name} ${path}`;
    const known = this.cached.get(key);
    if (known) return known;
    const document = this.make(name, path);
    if (document) this.cached.set(key, document);
    return document;
  }

  /** Made for each request: it names the host. */
  private page(name: InterfaceName, { publicUrl }: ResolvedHost): InterfaceDocument {
    const call =
      name === 'management'
        ? { address: `${publicUrl}/oauth/token` }
        : { address: `${authUrlOf(this.config, publicUrl)}/oauth/token`, audience: publicUrl };
    return documentOf(
      page(`Attestry ${name} API`, call),
      'text/html; charset=utf-8',
      { 'content-security-policy': contentSecurityPolicy(this.othersOf(name).map(({ url }) => url)) },
      false,
    );
  }

  /** Servers of the operations that the host of the document does not serve. */
  private othersOf(name: InterfaceName): readonly Server[] {
    const { auth, contexts } = otherServersOf(this.config);
    return name === 'management' ? auth : contexts;
  }

  private make(name: InterfaceName, path: string): InterfaceDocument | undefined {
    if (path === '/openapi.json') {
      const text = JSON.stringify(withServers(this.read(name), this.othersOf(name)));
      // Browser tools of any origin may read it, as they may call the operations it names.
      return documentOf(text, 'application/json; charset=utf-8', { 'access-control-allow-origin': '*' });
    }
    const file = path.slice('/docs/'.length);
    if (file === 'start.js') return documentOf(START_SCRIPT, 'text/javascript; charset=utf-8');
    if (file === 'start.css') return documentOf(START_STYLE, 'text/css; charset=utf-8');
    const type = Object.hasOwn(VIEWER_FILES, file) ? VIEWER_FILES[file]! : undefined;
    return type === undefined ? undefined : documentOf(readFileSync(join(this.viewer, file)), type);
  }
}

/** Caches may keep it for some minutes. @param isCompressible not an image, which is compressed already, and not what is made for one request */
export const documentOf = (
  content: string | Buffer,
  type: string,
  headers: Record<string, string> = {},
  isCompressible = !type.startsWith('image/'),
): InterfaceDocument => ({
  kept: {
    digest: createHash('sha256').update(content).digest('base64url'),
    bytes: Buffer.from(content),
    isCompressible,
    gzipBytes: 0,
  },
  headers: {
    'content-type': type,
    'cache-control': 'public, max-age=300',
    'x-content-type-options': 'nosniff',
    'referrer-policy': 'no-referrer',
    ...headers,
  },
});
