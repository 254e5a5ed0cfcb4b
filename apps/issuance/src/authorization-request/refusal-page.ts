import { createHash } from 'node:crypto';
import { HTTP_STATUS, httpAnswer, oauthFault, type AppError, type HttpAnswer } from '@attestry/contracts';

const ESCAPES: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' };
const escaped = (text: string): string => text.replace(/[&<>"']/g, (it) => ESCAPES[it]!);

/** Contrast of at least 4.5 to 1 in both schemes, no width that must scroll at 320 px (WCAG 2.2 AA). */
const STYLE = `
:root{color-scheme:light dark;--text:#1b1f24;--back:#fff;--weak:#4b5563}
@media (prefers-color-scheme:dark){:root{--text:#e6e8eb;--back:#15181c;--weak:#aab2bb}}
body{margin:0;font:1rem/1.5 system-ui,sans-serif;color:var(--text);background:var(--back)}
main{max-width:34rem;margin:0 auto;padding:3rem 1.25rem}
h1{font-size:1.6rem;line-height:1.25;margin:0 0 1rem}
h2{font-size:1rem;margin:2rem 0 .5rem}
.issuer{margin:0 0 2rem;font-weight:600;overflow-wrap:anywhere}
dl{margin:0;color:var(--weak);font-size:.9rem}
dt{font-weight:600}
dd{margin:0 0 .5rem;overflow-wrap:anywhere}
`;
const STYLE_HASH = createHash('sha256').update(STYLE).digest('base64');

const HEADERS = {
  'content-type': 'text/html; charset=utf-8',
  'content-security-policy': [
    "default-src 'none'",
    `style-src 'sha256-${STYLE_HASH}'`,
    "form-action 'none'",
    "frame-ancestors 'none'",
    "base-uri 'none'",
  ].join('; '),
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
};

/**
 * Error page when the browser is not redirected to the wallet. RFC 6749 §4.1.2.1. It repeats nothing of the request: otherwise a link
 * could display text in the issuer's name.
 */
export const refusalPage = (
  refusal: AppError,
  { issuer, requestId }: { issuer: string; requestId: string },
  headers: Record<string, string> = {},
): HttpAnswer => {
  const { error, error_description: description } = oauthFault(refusal);
  const facts = [
    ['Error', error],
    ['Description', description],
    ['Request ID', requestId],
  ] as const;
  const body = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<title>You cannot sign in with this link - ${escaped(new URL(issuer).host)}</title>
<style>${STYLE}</style>
</head>
<body>
<main>
<p class="issuer">${escaped(new URL(issuer).host)}</p>
<h1>You cannot sign in with this link</h1>
<p>No credential was issued. Go back to your wallet and start again from there.</p>
<p>If you see this page again, contact the organization that offered you the credential and give them the details below.</p>
<h2 id="details">Details</h2>
<dl aria-labelledby="details">
${facts.map(([name, value]) => `<dt>${name}</dt>\n<dd>${escaped(value)}</dd>`).join('\n')}
</dl>
</main>
</body>
</html>
`;
  // 401 would need a challenge (RFC 9110 §15.5.2), which a page cannot answer.
  const { kind } = refusal;
  const status = kind === 'unauthenticated' ? 400 : HTTP_STATUS[kind];
  return httpAnswer({ status, headers: { ...HEADERS, ...headers }, body });
};
