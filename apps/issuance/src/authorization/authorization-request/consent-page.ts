import { asciiAddress, httpAnswer, type HttpAnswer, type VerifiedBrand } from '@attestry/contracts';
import { escaped, pageHeaders, renderPage } from './browser-page.js';
import { CONSENT_TEXTS } from './consent-texts.js';
import { bestEntry, type PageLanguages } from './page-languages.js';
import { consentCookies, CONSENT_PATH, type ConsentBinding } from './pending-consents.js';

/** Names of a credential configuration, as its metadata publish them. */
export type CredentialNames = readonly [CredentialName, ...CredentialName[]];
interface CredentialName {
  name: string;
  locale?: string;
}

export interface ConsentQuestion {
  issuer: string;
  redirectUri: string;
  credentials: readonly CredentialNames[];
  brand: VerifiedBrand;
}

export interface IssuerPage {
  issuer: string;
  languages: PageLanguages;
}

const hostOf = (url: string): string => new URL(url).host;
/** Isolated, so that its writing direction does not alter the text around it. */
const isolated = (text: string): string => `<bdi>${escaped(text)}</bdi>`;
const filled = (text: string, values: Record<string, string>): string =>
  escaped(text).replace(/\{(\w+)\}/g, (_, name: string) => isolated(values[name]!));

/** Hosts with characters that separate sources and directives of a policy are left out. */
const imageOriginOf = (logoUrl: string | undefined): string | undefined => {
  if (logoUrl === undefined || !URL.canParse(logoUrl)) return undefined;
  const { origin } = new URL(logoUrl);
  return /^https:\/\/[a-z0-9.:[\]-]+$/.test(origin) ? origin : undefined;
};

/**
 * Names the wallet's host, an internationalized one in its ASCII form (RFC 5890 §2.3.2.1), and what will be issued. It repeats nothing
 * else of the request: otherwise a link could display text in the issuer's name.
 */
export const consentPage = (
  { issuer, redirectUri, credentials, brand }: ConsentQuestion,
  { cookie, token }: ConsentBinding,
  languages: PageLanguages,
): HttpAnswer => {
  const { language } = languages;
  const texts = CONSENT_TEXTS[language];
  const imageOrigin = imageOriginOf(brand.logoUrl);
  const host = hostOf(issuer);
  const values = { issuer: brand.name ?? host, host: hostOf(redirectUri) };
  const hidden = { request: cookie.id, token, ui_locales: language };
  const body = renderPage({
    language,
    title: texts.title,
    host,
    ...(brand.name !== undefined && { issuer: brandHtml(brand.name, host, imageOrigin && brand.logoUrl) }),
    content: `<p>${filled(texts.credentials, values)}</p>
<ul class="listed">
${credentials.map((names) => credentialHtml(names, languages)).join('\n')}
</ul>
<p>${escaped(texts.wallet)}</p>
<p class="listed host"><strong>${isolated(values.host)}</strong></p>
<p class="note">${filled(texts.warning, values)}</p>
<form method="post" action="${CONSENT_PATH}" autocomplete="off">
${Object.entries(hidden)
  .map(([name, value]) => `<input type="hidden" name="${name}" value="${escaped(value)}">`)
  .join('\n')}
<label class="confirmed"><input type="checkbox" name="confirmed" value="yes" required> <span>${filled(texts.confirmed, values)}</span></label>
<div class="choices">
<button name="decision" value="approve">${escaped(texts.approve)}</button>
<button name="decision" value="refuse" class="second" formnovalidate>${escaped(texts.refuse)}</button>
</div>
</form>
<p class="weak">${escaped(texts.effect)}</p>`,
  });
  return httpAnswer({
    status: 200,
    headers: {
      ...pageHeaders({ hasForm: true, imageOrigin }),
      'content-language': language,
      'set-cookie': consentCookies.set(cookie, issuer),
    },
    body,
  });
};

const brandHtml = (name: string, host: string, logoUrl: string | undefined): string =>
  [
    // The name follows as text.
    ...(logoUrl === undefined ? [] : [`<img src="${escaped(asciiAddress(logoUrl))}" alt="">`]),
    `${isolated(name)}<small>${escaped(host)}</small>`,
  ].join('\n');

const credentialHtml = (names: CredentialNames, languages: PageLanguages): string => {
  const { name, locale } = bestEntry(names, languages);
  return `<li${locale === undefined ? '' : ` lang="${escaped(locale)}"`}>${isolated(name)}</li>`;
};

/** The person refused: nothing is redirected. */
export const refusedConsentPage = (page: IssuerPage, headers: Record<string, string>): HttpAnswer => {
  const { refusedTitle, refused } = CONSENT_TEXTS[page.languages.language];
  return textPage(200, page, refusedTitle, `<p>${escaped(refused)}</p>`, { headers });
};

/** A form that is not accepted. */
export const endedConsentPage = (page: IssuerPage): HttpAnswer => {
  const { endedTitle, ended } = CONSENT_TEXTS[page.languages.language];
  return textPage(400, page, endedTitle, `<p>${escaped(ended)}</p>`);
};

/**
 * Continues at another site. Browsers apply `form-action` to every redirect after a form, also to those of the provider, whose hosts the
 * issuer does not know: a page that continues by itself ends that chain.
 */
export const continuePage = (page: IssuerPage, url: string, headers: Record<string, string> = {}): HttpAnswer => {
  const texts = CONSENT_TEXTS[page.languages.language];
  const target = escaped(asciiAddress(url));
  return textPage(200, page, texts.continueTitle, `<p><a href="${target}">${escaped(texts.continue)}</a></p>`, {
    headers,
    head: `<meta http-equiv="refresh" content="0;url=${target}">`,
  });
};

const textPage = (
  status: number,
  { issuer, languages: { language } }: IssuerPage,
  title: string,
  content: string,
  { headers = {}, head }: { headers?: Record<string, string>; head?: string } = {},
): HttpAnswer =>
  httpAnswer({
    status,
    headers: { ...pageHeaders(), 'content-language': language, ...headers },
    body: renderPage({ language, title, host: hostOf(issuer), content, ...(head !== undefined && { head }) }),
  });
