import { createHash } from 'node:crypto';

const ESCAPES: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' };
export const escaped = (text: string): string => text.replace(/[&<>"']/g, (it) => ESCAPES[it]!);

/** Contrast of at least 4.5 to 1 in both schemes, focus that shows, no width that must scroll at 320 px (WCAG 2.2 AA). */
const STYLE = `
:root{color-scheme:light dark;--text:#1b1f24;--back:#fff;--weak:#4b5563;--line:#d5d9df;--strong:#0b5394;--on-strong:#fff;--note:#fff4d6;--edge:#8a5a00}
@media (prefers-color-scheme:dark){:root{--text:#e6e8eb;--back:#15181c;--weak:#aab2bb;--line:#3a4149;--strong:#8cc4ff;--on-strong:#10151a;--note:#2e2612;--edge:#e0b14a}}
*{box-sizing:border-box}
body{margin:0;font:1rem/1.5 system-ui,sans-serif;color:var(--text);background:var(--back)}
main{max-width:34rem;margin:0 auto;padding:3rem 1.25rem}
h1{font-size:1.6rem;line-height:1.25;margin:0 0 1rem}
h2{font-size:1rem;margin:2rem 0 .5rem}
h1,p,li,dd,.issuer{overflow-wrap:anywhere}
.issuer{margin:0 0 2rem;font-weight:600}
.issuer small{display:block;font-weight:400;color:var(--weak)}
.issuer img{display:block;max-width:10rem;max-height:4rem;margin:0 0 .75rem}
dl{margin:0;color:var(--weak);font-size:.9rem}
dt{font-weight:600}
dd{margin:0 0 .5rem}
.listed{margin:.5rem 0 1.5rem;padding:0;list-style:none;border:1px solid var(--line);border-radius:.5rem}
.listed li{padding:.75rem 1rem;font-weight:600}
.listed li+li{border-top:1px solid var(--line)}
.listed.host{padding:.75rem 1rem;font-size:1.15rem}
.note{margin:0 0 1.5rem;padding:.75rem 1rem;background:var(--note);border-left:4px solid var(--edge);border-radius:.25rem}
.confirmed{display:flex;gap:.75rem;align-items:flex-start;margin:0 0 1.5rem;padding:.5rem 0;cursor:pointer;overflow-wrap:anywhere}
.confirmed input{flex:none;width:1.5rem;height:1.5rem;margin:0;accent-color:var(--strong)}
.choices{display:flex;flex-wrap:wrap;gap:.75rem;margin:0 0 1rem}
button{flex:1 1 12rem;min-height:2.75rem;padding:.6rem 1.25rem;font:inherit;font-weight:600;border:2px solid var(--strong);border-radius:.375rem;background:var(--strong);color:var(--on-strong);cursor:pointer}
button.second{background:transparent;color:var(--strong)}
a{color:var(--strong)}
:focus-visible{outline:3px solid var(--strong);outline-offset:2px}
.weak{color:var(--weak);font-size:.9rem}
`;
const STYLE_HASH = createHash('sha256').update(STYLE).digest('base64');

export interface PageHeaderOptions {
  /** Whether the page has a form, which is sent to the page's own origin. */
  hasForm?: boolean;
  /** Origin of the one image. */
  imageOrigin?: string | undefined;
}

/** Pages of the authorization flow have no scripts and cannot be framed; their address may contain values of the wallet's request. */
export const pageHeaders = ({ hasForm = false, imageOrigin }: PageHeaderOptions = {}): Record<string, string> => ({
  'content-type': 'text/html; charset=utf-8',
  'cache-control': 'no-store',
  'content-security-policy': [
    "default-src 'none'",
    `style-src 'sha256-${STYLE_HASH}'`,
    ...(imageOrigin === undefined ? [] : [`img-src ${imageOrigin}`]),
    `form-action ${hasForm ? "'self'" : "'none'"}`,
    "frame-ancestors 'none'",
    "base-uri 'none'",
  ].join('; '),
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
});

export interface BrowserPage {
  language: string;
  title: string;
  /** Host of the issuer. */
  host: string;
  /** HTML above the heading; absent: the host. */
  issuer?: string;
  /** HTML below the heading. */
  content: string;
  /** HTML for `head`. */
  head?: string;
}

/** HTML of a whole page; `title` and `host` are escaped here. */
export const renderPage = ({ language, title, host, issuer = escaped(host), content, head }: BrowserPage): string =>
  `<!doctype html>
<html lang="${escaped(language)}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
${head === undefined ? '' : `${head}\n`}<title>${escaped(title)} - ${escaped(host)}</title>
<style>${STYLE}</style>
</head>
<body>
<main>
<div class="issuer">${issuer}</div>
<h1>${escaped(title)}</h1>
${content}
</main>
</body>
</html>
`;
