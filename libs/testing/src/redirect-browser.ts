import { hostFetch } from './host-fetch.js';

const MAX_HOPS = 30;

interface Cookie {
  name: string;
  value: string;
  path: string;
}

/** A browser as far as redirections go: it follows them, and keeps each host's cookies (RFC 6265). */
export class RedirectBrowser {
  private readonly jars = new Map<string, Cookie[]>();
  /** Every visited address. */
  readonly visited: string[] = [];

  /**
   * Follows redirects up to an address for which `isThere` is true, without opening it: it may be that of a
   * wallet. @throws Error when a response is not a redirect
   */
  async follow(start: string, isThere: (url: string) => boolean): Promise<URL> {
    let url = start;
    for (let hops = 0; !isThere(url); hops++) {
      if (hops > MAX_HOPS) throw new Error(`redirections in circles: ${url}`);
      const answer = await this.openUrl(url);
      const location = answer.headers.get('location');
      if (!location) throw new Error(`${url} answers ${answer.status}: ${await answer.text()}`);
      url = new URL(location, url).href;
    }
    return new URL(url);
  }

  /** One request, with and for the cookies of its host. */
  async openUrl(url: string): Promise<Response> {
    this.visited.push(url);
    const cookie = this.cookiesFor(url);
    const answer = await hostFetch(url, { redirect: 'manual', headers: cookie ? { cookie } : {} });
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
