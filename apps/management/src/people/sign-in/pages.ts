import { createHash } from 'node:crypto';

/** HTML; all other text is escaped. */
export class Html {
  constructor(readonly text: string) {}
}

const ESCAPES: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' };
const escaped = (value: unknown): string =>
  value instanceof Html
    ? value.text
    : Array.isArray(value)
      ? value.map(escaped).join('')
      : value === undefined || value === false
        ? ''
        : String(value).replace(/[&<>"']/g, (it) => ESCAPES[it]!);

export const html = (parts: TemplateStringsArray, ...values: unknown[]): Html =>
  new Html(parts.map((part, n) => (n === 0 ? part : escaped(values[n - 1]) + part)).join(''));

/** Contrast of at least 4.5 to 1 in both schemes, focus that shows, no width that must scroll at 320 px (WCAG 2.2 AA). */
const STYLE = `
:root{color-scheme:light dark;--text:#1b1f24;--back:#fff;--line:#6b7280;--strong:#0b5394;--on-strong:#fff;--bad:#a61b1b}
@media (prefers-color-scheme:dark){:root{--text:#e6e8eb;--back:#15181c;--line:#9aa3ad;--strong:#8cc4ff;--on-strong:#10151a;--bad:#ff9b9b}}
*{box-sizing:border-box}
body{margin:0;font:1rem/1.5 system-ui,sans-serif;color:var(--text);background:var(--back)}
main{max-width:30rem;margin:0 auto;padding:3rem 1.25rem}
h1{font-size:1.6rem;line-height:1.25;margin:0 0 1rem}
.product{margin:0 0 2rem;font-weight:600}
h2{font-size:1.1rem;line-height:1.3;margin:2rem 0 .5rem}
label{display:block;font-weight:600;margin-top:1.25rem}
.hint{margin:0}
.fault{margin:0;color:var(--bad);font-weight:600}
input{width:100%;font:inherit;padding:.6rem .7rem;margin-top:.25rem;border:1px solid var(--line);border-radius:.375rem;color:inherit;background:transparent}
input[readonly]{border-style:dashed}
button,.button{font:inherit;font-weight:600;margin:1.5rem .75rem 0 0;padding:.65rem 1.25rem;border:2px solid var(--strong);border-radius:.375rem;background:var(--strong);color:var(--on-strong);cursor:pointer}
button.second{background:transparent;color:var(--strong)}
a{color:var(--strong)}
:focus-visible{outline:3px solid var(--strong);outline-offset:2px}
.faults{border:2px solid var(--bad);border-radius:.375rem;padding:1rem 1.25rem;margin:0 0 1.5rem}
.faults h2{font-size:1.1rem;margin:0 0 .5rem}
.faults ul{margin:0;padding-left:1.25rem}
.faults a{color:var(--bad)}
strong{overflow-wrap:anywhere}
`;
/** In one piece: the policy contains the hash of the element's whole content. */
const STYLE_ELEMENT = new Html(`<style>${STYLE}</style>`);
const STYLE_HASH = createHash('sha256').update(STYLE).digest('base64');

/**
 * Headers of every response of the sign-in. A link's token must not leak by Referer or a cache, and no site may frame a page with a
 * password field.
 * @param leadsTo origins that a form of this page may redirect to beside its own: browsers apply `form-action` to redirects too
 */
export const pageHeaders = (leadsTo: readonly string[] = []): Record<string, string> => ({
  'cache-control': 'no-store',
  'content-security-policy': [
    "default-src 'none'",
    `style-src 'sha256-${STYLE_HASH}'`,
    // The provider adds the hash of its script to pages that submit themselves.
    "script-src 'none'",
    `form-action ${["'self'", ...leadsTo].join(' ')}`,
    "frame-ancestors 'none'",
    "base-uri 'none'",
  ].join('; '),
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  'cross-origin-opener-policy': 'same-origin',
  'permissions-policy': 'camera=(), geolocation=(), microphone=()',
});

/** A fault of one field, or (`field` absent) of the whole form. */
export interface FormFault {
  field?: string;
  text: string;
}

/** A whole page. With faults a summary comes first and has the focus, and the title begins with it. */
export const page = (title: string, content: Html, faults: readonly FormFault[] = []): string =>
  html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="robots" content="noindex" />
        <title>${faults.length ? 'Error: ' : ''}${title} - Attestry</title>
        ${STYLE_ELEMENT}
      </head>
      <body>
        <main>
          <p class="product">Attestry</p>
          ${faults.length > 0 && faultSummary(faults)}
          <h1>${title}</h1>
          ${content}
        </main>
      </body>
    </html> `.text;

const faultSummary = (faults: readonly FormFault[]): Html =>
  html`<div class="faults" role="alert" tabindex="-1" autofocus aria-labelledby="faults">
    <h2 id="faults">There is a problem</h2>
    <ul>
      ${faults.map(({ field, text }) => html`<li>${field === undefined ? text : html`<a href="#${field}">${text}</a>`}</li>`)}
    </ul>
  </div>`;

export interface Field {
  name: string;
  label: string;
  type: 'text' | 'email' | 'password';
  /** Value that browsers and password managers fill in (HTML, autofill). */
  autocomplete: string;
  hint?: string;
  value?: string | undefined;
  /** Read-only, and sent. */
  fixed?: boolean;
}

export const field = (it: Field, faults: readonly FormFault[] = []): Html => {
  const fault = faults.find(({ field: name }) => name === it.name);
  const described = [it.hint !== undefined && `${it.name}-hint`, fault && `${it.name}-fault`].filter(Boolean).join(' ');
  return html`<label for="${it.name}">${it.label}</label>
    ${it.hint !== undefined && html`<p class="hint" id="${it.name}-hint">${it.hint}</p>`}
    ${fault && html`<p class="fault" id="${it.name}-fault">${fault.text}</p>`}
    <input
      id="${it.name}"
      name="${it.name}"
      type="${it.type}"
      autocomplete="${it.autocomplete}"
      required${
        it.value !== undefined && html` value="${it.value}"`
      }${it.fixed === true && html` readonly`}${described && html` aria-describedby="${described}"`}${
        fault && html` aria-invalid="true"`
      }
    />`;
};

/** A form that posts to its own address. */
export const form = (action: string, hidden: Record<string, string>, content: Html): Html =>
  html`<form method="post" action="${action}" novalidate>
    ${Object.entries(hidden).map(([name, value]) => html`<input type="hidden" name="${name}" value="${value}" />`)}
    ${content}
  </form>`;
