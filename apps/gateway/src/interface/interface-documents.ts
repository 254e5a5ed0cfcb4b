import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { Inject, Injectable } from '@nestjs/common';
import { openApiDocument, SHAPES, type InterfaceName, type Operation } from '@attestry/contracts';
import type { KeptDocument } from '../documents/public-documents.js';
import type { HostKind } from '../request/hosts.js';
import { SERVED_OPERATIONS } from './served-operations.js';

/** A GET response of the gateway itself. */
export interface InterfaceDocument {
  headers: Readonly<Record<string, string>>;
  kept: KeptDocument;
}

/** Everything the viewer needs comes from this host; the page has no inline scripts. */
const CONTENT_SECURITY_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

const page = (title: string): string => `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title}</title>
<link rel="icon" href="/docs/favicon-32x32.png">
<link rel="stylesheet" href="/docs/swagger-ui.css">
</head>
<body>
<div id="viewer"></div>
<noscript>This page needs JavaScript. The OpenAPI document is at <a href="/openapi.json">/openapi.json</a>.</noscript>
<script src="/docs/swagger-ui-bundle.js"></script>
<script src="/docs/start.js"></script>
</body>
</html>
`;

/** `validatorUrl: null`: otherwise the viewer queries a validator on the internet. */
const START = `SwaggerUIBundle({
  url: '/openapi.json',
  dom_id: '#viewer',
  deepLinking: true,
  defaultModelsExpandDepth: 0,
  validatorUrl: null,
});
`;

/** Files of the viewer's package that are served, by name. */
const VIEWER_FILES: Record<string, string> = {
  'swagger-ui-bundle.js': 'text/javascript; charset=utf-8',
  'swagger-ui.css': 'text/css; charset=utf-8',
  'favicon-32x32.png': 'image/png',
};

const INTERFACES: Partial<Record<HostKind, InterfaceName>> = { management: 'management', tenant: 'tenant' };

/**
 * The interface of a host: `/openapi.json`, generated from the registry, and `/docs`, which shows it. Not operations: they need no service,
 * and are the same for every caller.
 */
@Injectable()
export class InterfaceDocuments {
  private readonly viewer = dirname(createRequire(import.meta.url).resolve('swagger-ui-dist/package.json'));
  /** Generated on the first request, then cached: a megabyte and a half that many processes never need. */
  private readonly cached = new Map<string, InterfaceDocument>();

  constructor(@Inject(SERVED_OPERATIONS) private readonly operations: readonly Operation[]) {}

  /** `undefined` when no document has the path. */
  find(api: HostKind, path: string): InterfaceDocument | undefined {
    const name = INTERFACES[api];
    if (!name || (path !== '/openapi.json' && path !== '/docs' && !path.startsWith('/docs/'))) return undefined;
    const key = `${name} ${path}`;
    const known = this.cached.get(key);
    if (known) return known;
    const document = this.generate(name, path);
    if (document) this.cached.set(key, document);
    return document;
  }

  private generate(name: InterfaceName, path: string): InterfaceDocument | undefined {
    if (path === '/openapi.json') {
      const text = JSON.stringify(openApiDocument(name, this.operations, SHAPES));
      // Browser tools of any origin may read it, as they may call the operations it names.
      return documentOf(text, 'application/json; charset=utf-8', { 'access-control-allow-origin': '*' });
    }
    if (path === '/docs')
      return documentOf(page(`Attestry ${name} API`), 'text/html; charset=utf-8', {
        'content-security-policy': CONTENT_SECURITY_POLICY,
      });
    const file = path.slice('/docs/'.length);
    if (file === 'start.js') return documentOf(START, 'text/javascript; charset=utf-8');
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
    isText: isCompressible,
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
