import { hostFetch } from './host-fetch.js';

const MAX_HOPS = 30;

interface Cookie {
  name: string;
  value: string;
  path: string;
}

/** The form of a consent page. */
export interface SubmittedConsent {
  action: string;
  fields: Record<string, string>;
}

const unescaped = (text: string): string =>
  text.replace(
    /&(?:lt|gt|quot|#39|amp);/g,
    (it) => ({ '&lt;': '<', '&gt;': '>', '&quot;': '"', '&#39;': "'" })[it] ?? '&',
  );

/** With its box ticked; `undefined` when the page is none. */
export const parseConsentPage = (page: string): SubmittedConsent | undefined => {
  const action = /<form method="post" action="([^"]*)"/.exec(page)?.[1];
  if (action === undefined || !page.includes('name="decision" value="approve"')) return undefined;
  const inputs = page.matchAll(
    /<input type="(?:hidden|checkbox)" name="([^"]*)" value="([^"]*)"(?: required(?:="")?)?>/g,
  );
  return { action, fields: Object.fromEntries([...inputs].map(([, name, value]) => [name, unescaped(value!)])) };
};

/** Where a page continues by itself. */
export const continuationOf = (page: string): string | undefined => {
  const url = /<meta http-equiv="refresh" content="0;url=([^"]*)">/.exec(page)?.[1];
  return url === undefined ? undefined : unescaped(url);
};

/** A browser as far as redirections go: it follows them, and keeps each host's cookies (RFC 6265). */
export class RedirectBrowser {
  private readonly jars = new Map<string, Cookie[]>();
  /** Every visited address. */
  readonly visited: string[] = [];

  /**
   * Follows redirects up to an address for which `isThere` is true, without opening it: it may be that of a
   * wallet. A consent page of the issuer is approved. @throws Error when a response is neither
   */
  async follow(start: string, isThere: (url: string) => boolean): Promise<URL> {
    let url = start;
    for (let hops = 0; !isThere(url); hops++) {
      if (hops > MAX_HOPS) throw new Error(`redirections in circles: ${url}`);
      const answer = await this.openUrl(url);
      const location = answer.headers.get('location') ?? (await this.approveConsent(answer, url));
      if (!location) throw new Error(`${url} answers ${answer.status}: ${await answer.text()}`);
      url = new URL(location, url).href;
    }
    return new URL(url);
  }

  /** Where the browser goes on after an approval; `undefined` when the response is no consent page. */
  private async approveConsent(answer: Response, url: string): Promise<string | undefined> {
    const form = answer.status === 200 ? parseConsentPage(await answer.clone().text()) : undefined;
    return form && continuationOf(await (await this.submitConsent(url, form, 'approve')).text());
  }

  /** @param url of the page that the form is on */
  submitConsent(url: string, { action, fields }: SubmittedConsent, decision: 'approve' | 'refuse'): Promise<Response> {
    const body = new URLSearchParams({ ...fields, decision });
    return this.openUrl(new URL(action, url).href, {
      ...{ method: 'POST', body },
      headers: { origin: new URL(url).origin, 'sec-fetch-site': 'same-origin' },
    });
  }

  /** One request, with and for the cookies of its host. */
  async openUrl(
    url: string,
    init: { method?: string; body?: URLSearchParams; headers?: Record<string, string> } = {},
  ): Promise<Response> {
    this.visited.push(url);
    const cookie = this.cookiesFor(url);
    const answer = await hostFetch(url, {
      ...init,
      redirect: 'manual',
      headers: { ...init.headers, ...(cookie && { cookie }) },
    });
    for (const line of answer.headers.getSetCookie()) this.keep(new URL(url).host, line);
    return answer;
  }

  /** The `Cookie` header for that address. */
  cookiesFor(url: string): string {
    const { host, pathname } = new URL(url);
    return (this.jars.get(host) ?? [])
      .filter(({ path }) => pathname === path || pathname.startsWith(path.endsWith('/') ? path : `${path}/`))
      .map(({ name, value }) => `${name}=${value}`)
      .join('; ');
  }

  private keep(host: string, line: string): void {
    const [pair = '', ...attributes] = line.split(';').map((part) => part.trim());
    const name = pair.slice(0, pair.indexOf('='));
    const attribute = (wanted: string) =>
      attributes.find((one) => one.toLowerCase().startsWith(`${wanted}=`))?.slice(wanted.length + 1);
    const others = (this.jars.get(host) ?? []).filter((one) => one.name !== name);
    const isGone = attribute('max-age') === '0' || Date.parse(attribute('expires') ?? '') <= Date.now();
    const kept = { name, value: pair.slice(name.length + 1), path: attribute('path') ?? '/' };
    this.jars.set(host, isGone ? others : [...others, kept]);
  }
}
