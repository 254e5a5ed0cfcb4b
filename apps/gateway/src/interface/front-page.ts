import { createHash } from 'node:crypto';
import type { Api } from '@attestry/contracts';
import type { ResolvedHost } from '../request/hosts.js';
import { documentOf, type InterfaceDocument } from './interface-documents.js';

const escaped = (text: string): string => text.replace(/[&<>"']/g, (it) => `&#${it.charCodeAt(0)};`);

/** Contrast of at least 4.5 to 1 in both schemes, no width that must scroll at 320 px (WCAG 2.2 AA). */
const STYLE = `
:root{color-scheme:light dark;--text:#1b1f24;--back:#fff;--strong:#0b5394}
@media (prefers-color-scheme:dark){:root{--text:#e6e8eb;--back:#15181c;--strong:#8cc4ff}}
body{margin:0;font:1rem/1.5 system-ui,sans-serif;color:var(--text);background:var(--back)}
main{max-width:34rem;margin:0 auto;padding:3rem 1.25rem}
h1{font-size:1.6rem;line-height:1.25;margin:0 0 1rem}
.host{margin:0 0 2rem;font-weight:600;overflow-wrap:anywhere}
ul{margin:1.5rem 0 0;padding-left:1.25rem}
li{margin:.5rem 0;overflow-wrap:anywhere}
a{color:var(--strong)}
:focus-visible{outline:3px solid var(--strong);outline-offset:2px}
`;
const HEADERS = {
  'content-security-policy': [
    "default-src 'none'",
    `style-src 'sha256-${createHash('sha256').update(STYLE).digest('base64')}'`,
    "form-action 'none'",
    "frame-ancestors 'none'",
    "base-uri 'none'",
  ].join('; '),
  'x-frame-options': 'DENY',
};

interface Content {
  title: string;
  purpose: string;
  /** Address and text. */
  links: readonly (readonly [string, string])[];
}

const DEFINITION = ['/openapi.json', 'OpenAPI document'] as const;
const HEALTH = ['/health/ready', 'Health'] as const;
const CONTENT: Record<Api, (managementUrl: string, host: ResolvedHost) => Content> = {
  management: () => ({
    title: 'Management API',
    purpose: 'This host serves the management API: environments, tenants, their clients and their members.',
    links: [['/docs', 'API documentation'], DEFINITION, HEALTH],
  }),
  auth: (managementUrl) => ({
    title: 'Authorization server',
    purpose: 'This host issues and revokes access tokens of API clients and publishes the keys that verify them.',
    links: [[`${managementUrl}/docs`, 'API documentation'], HEALTH],
  }),
  tenant: () => ({
    title: 'Tenant API',
    purpose:
      'This host serves the API of one tenant: DIDs, credential configurations, offers, users, webhooks and analytics events. Wallets redeem credential offers here.',
    links: [
      ['/docs', 'API documentation'],
      DEFINITION,
      ['/.well-known/openid-credential-issuer', 'Credential issuer metadata'],
      HEALTH,
    ],
  }),
  'custom-domain': (_managementUrl, { tenant }) => ({
    title: 'Custom domain',
    purpose: 'This host is the custom domain of an issuer and serves its public documents. The API has its own host.',
    links: [
      // The metadata names the tenant's host as authorization server: it is public.
      ['/.well-known/openid-credential-issuer', 'Credential issuer metadata'],
      [`${tenant!.baseUrl}/docs`, 'API documentation'],
      // A proxy of the tenant need not forward health.
      [`${tenant!.baseUrl}/health/ready`, 'Health'],
    ],
  }),
  contexts: (managementUrl) => ({
    title: 'JSON-LD contexts',
    purpose: 'This host serves the JSON-LD context of the credentials that the platform issues.',
    links: [['/v1', 'JSON-LD context'], [`${managementUrl}/docs`, 'API documentation'], HEALTH],
  }),
};

/** `/` of a host: its purpose, API documentation and health. It names no tenant except by the host of the request. */
export const frontPage = (host: ResolvedHost, managementUrl: string): InterfaceDocument => {
  const { title, purpose, links } = CONTENT[host.api](managementUrl, host);
  const name = escaped(new URL(host.publicUrl).host);
  const text = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<title>${title} - ${name}</title>
<style>${STYLE}</style>
</head>
<body>
<main>
<p class="host">${name}</p>
<h1>${title}</h1>
<p>${purpose}</p>
<ul>
${links.map(([address, label]) => `<li><a href="${escaped(address)}">${label}</a></li>`).join('\n')}
</ul>
</main>
</body>
</html>
`;
  return documentOf(text, 'text/html; charset=utf-8', HEADERS);
};
