import { createHash } from 'node:crypto';
import { chooseMediaType } from '@attestry/service-kit';
import type { HostKind, ResolvedHost } from '../request/hosts.js';
import { authUrlOf, escaped, managementUrlOf, type Addresses } from './host-addresses.js';
import { documentOf, type InterfaceDocument } from './interface-documents.js';

/** Contrast of at least 4.5 to 1 in both schemes, no width that must scroll at 320 px (WCAG 2.2 AA). */
const STYLE = `
:root{color-scheme:light dark;--text:#1b1f24;--back:#fff;--strong:#0b5394;--code:#f1f3f5}
@media (prefers-color-scheme:dark){:root{--text:#e6e8eb;--back:#15181c;--strong:#8cc4ff;--code:#22272d}}
body{margin:0;font:1rem/1.5 system-ui,sans-serif;color:var(--text);background:var(--back)}
main{max-width:34rem;margin:0 auto;padding:3rem 1.25rem}
h1{font-size:1.6rem;line-height:1.25;margin:0 0 1rem}
h2{font-size:1.15rem;line-height:1.25;margin:2rem 0 1rem}
.host{margin:0 0 2rem;font-weight:600;overflow-wrap:anywhere}
ul,ol{margin:1.5rem 0 0;padding-left:1.25rem}
li{margin:.5rem 0;overflow-wrap:anywhere}
pre{margin:.5rem 0;padding:.75rem;border-radius:.25rem;background:var(--code);white-space:pre-wrap;overflow-wrap:anywhere}
code{font:.875rem/1.5 ui-monospace,monospace}
a{color:var(--strong)}
:focus-visible{outline:3px solid var(--strong);outline-offset:2px}
`;
const HTML = 'text/html';
const JSON_TYPE = 'application/json';
const HEADERS: Readonly<Record<string, string>> = {
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
  /** Text, and a command that can be copied. */
  steps?: readonly (readonly [string, string])[];
}

const DEFINITION = ['/openapi.json', 'OpenAPI document'] as const;
const HEALTH = ['/health/ready', 'Health'] as const;
const CONTENT: Record<HostKind, (management: string, host: ResolvedHost, addresses: Addresses) => Content> = {
  management: () => ({
    title: 'Management API',
    purpose: 'This host serves the management API: environments, tenants, their clients and their members.',
    links: [['/docs', 'API documentation'], DEFINITION, HEALTH],
  }),
  auth: (management) => ({
    title: 'Authorization server',
    purpose: 'This host issues and revokes access tokens of API clients and publishes the keys that verify them.',
    links: [[`${management}/docs`, 'API documentation'], HEALTH],
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
  'custom-domain': (_management, { tenant }) => ({
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
  contexts: (management) => ({
    title: 'JSON-LD contexts',
    purpose: 'This host serves the JSON-LD context of the credentials that the platform issues.',
    links: [['/v1', 'JSON-LD context'], [`${management}/docs`, 'API documentation'], HEALTH],
  }),
  platform: (management, { publicUrl }, addresses) => {
    const auth = authUrlOf(addresses, publicUrl);
    return {
      title: 'Attestry',
      purpose: `This platform issues verifiable credentials over OpenID for Verifiable Credential Issuance 1.0. The host name selects the API: the management API creates tenants, and each tenant has its own API at <subdomain>.${new URL(publicUrl).host}.`,
      links: [
        [management, 'Management API'],
        [`${management}/docs`, 'API documentation'],
        [auth, 'Authorization server'],
        HEALTH,
      ],
      steps: firstSteps(management, auth),
    };
  },
};

/** Steps of docs/guides/first-tenant.md. */
const firstSteps = (management: string, auth: string): NonNullable<Content['steps']> => [
  [
    'Request an access token for the management API, with the client that the settings name, or that the platform created on its first start (management-client.json in the data folder).',
    `curl ${auth}/oauth/token -H 'content-type: application/json' -d '{"grant_type":"client_credentials","client_id":"<client_id>","client_secret":"<client_secret>"}'`,
  ],
  [
    'Look up the id of the environment.',
    `curl ${management}/v1/environments -H 'authorization: Bearer <access_token>'`,
  ],
  [
    'Create a tenant. Its host serves the tenant API, with its documentation at /docs.',
    `curl ${management}/v1/tenants -H 'authorization: Bearer <access_token>' -H 'content-type: application/json' -d '{"name":"Acme","subdomain":"acme","environmentId":"<id>"}'`,
  ],
];

/** The same for every unknown host: it does not repeat the name, and does not show whether a tenant had it. */
const UNKNOWN = (management: string): Content => ({
  title: 'Unknown host',
  purpose:
    'No API and no tenant has the name under which this request was sent. The subdomain of the tenant may be misspelled, or a proxy may replace the Host header.',
  links: [[management, 'Management API'], [`${management}/docs`, 'API documentation'], HEALTH],
});

const pageOf = ({ title, purpose, links, steps }: Content, name?: string): string => `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<title>${title}${name === undefined ? '' : ` - ${name}`}</title>
<style>${STYLE}</style>
</head>
<body>
<main>
${name === undefined ? '' : `<p class="host">${name}</p>\n`}<h1>${title}</h1>
<p>${escaped(purpose)}</p>
<ul>
${links.map(([address, label]) => `<li><a href="${escaped(address)}">${label}</a></li>`).join('\n')}
</ul>
${steps === undefined ? '' : stepsOf(steps)}</main>
</body>
</html>
`;

const stepsOf = (steps: NonNullable<Content['steps']>): string => `<h2>First steps</h2>
<ol>
${steps.map(([text, command]) => `<li>${escaped(text)}<pre><code>${escaped(command)}</code></pre></li>`).join('\n')}
</ol>
<p>The guide docs/guides/first-tenant.md of the repository continues with a first credential.</p>
`;

/** The content of the page for programs. */
const jsonOf = ({ title, purpose, links, steps }: Content, publicUrl: string): string =>
  JSON.stringify({
    title,
    description: purpose,
    links: links.map(([address, label]) => ({ title: label, href: new URL(address, publicUrl).href })),
    ...(steps && { steps: steps.map(([text, command]) => ({ description: text, command })) }),
  });

/**
 * `/` of a host: its purpose, API documentation and health. It names no tenant except by the host of the request.
 * @param accept a page unless it prefers JSON
 */
export const frontPage = (host: ResolvedHost, addresses: Addresses, accept: string | undefined): InterfaceDocument => {
  const content = CONTENT[host.api](managementUrlOf(addresses), host, addresses);
  const vary = { vary: 'Accept' };
  return chooseMediaType(accept, [HTML, JSON_TYPE]) === JSON_TYPE
    ? documentOf(jsonOf(content, host.publicUrl), `${JSON_TYPE}; charset=utf-8`, vary, false)
    : documentOf(
        pageOf(content, escaped(new URL(host.publicUrl).host)),
        `${HTML}; charset=utf-8`,
        { ...HEADERS, ...vary },
        false,
      );
};

/** `/` of an unknown host, for browsers: `undefined` unless HTML is preferred, as an error is JSON by default. */
export const unknownHostPage = (addresses: Addresses, accept: string | undefined): InterfaceDocument | undefined =>
  chooseMediaType(accept, [JSON_TYPE, HTML]) === HTML
    ? documentOf(
        pageOf(UNKNOWN(managementUrlOf(addresses))),
        `${HTML}; charset=utf-8`,
        // A tenant may get the name at any time.
        { ...HEADERS, vary: 'Accept', 'cache-control': 'no-store' },
        false,
      )
    : undefined;
