import { mediaTypeOf } from '@attestry/contracts';
import { AnswerTooLarge, DnsBudgetExceeded, type Outbound, type OutboundAnswer } from '@attestry/service-kit';
import { alternateOf } from './link-header.js';

const MAX_BYTES = 1024 * 1024;
/** Time for all exchanges together. */
const TIMEOUT_MS = 5000;
const MAX_REDIRECTS = 3;
const REDIRECTS: readonly number[] = [301, 302, 303, 307, 308];
const LINKED_DATA = 'application/ld+json';

/** A context document that cannot be used. The message is shown to the tenant. */
export class ContextRefused extends Error {
  override readonly name = 'ContextRefused';
}

/** The same for everything that the guard or the network refuses: a difference would describe networks that the tenant cannot reach. */
const UNREACHABLE =
  'could not be fetched: the address, or one that it leads to, is not allowed or cannot be reached; allowed are public https addresses';

export interface FetchedText {
  text: string;
  /** Why the media type is none of JSON, for a document that is not JSON either. */
  typeFault?: string;
}

/**
 * A JSON-LD context over the guarded client (JSON-LD 1.1 API §9.4.3): three redirects, and one alternate that the `Link` header of another
 * representation names, such as that of a page. Each address is checked like one that a tenant names.
 * @throws ContextRefused, DnsBudgetExceeded
 */
export const fetchContext = async (
  outbound: Pick<Outbound, 'checkUrl' | 'send'>,
  tenantId: string,
  named: string,
): Promise<FetchedText> => {
  const target = outbound.checkUrl(named);
  if ('fault' in target) throw new ContextRefused(target.fault);
  const deadline = performance.now() + TIMEOUT_MS;
  let { url } = target;
  let redirects = 0;
  let isAlternate = false;
  const follow = (reference: string): void => {
    const next = URL.parse(reference, url);
    const checked = next && outbound.checkUrl(next.href);
    if (!checked || 'fault' in checked) throw new ContextRefused(UNREACHABLE);
    ({ url } = checked);
  };
  for (;;) {
    const { status, headers, body } = await exchange(outbound, tenantId, url, deadline - performance.now());
    const after = redirects === 0 ? '' : ` after ${redirects} redirect${redirects === 1 ? '' : 's'}`;
    if (REDIRECTS.includes(status)) {
      const { location } = headers;
      if (location === undefined)
        throw new ContextRefused(`must not redirect without Location: status ${status}${after}`);
      if (redirects === MAX_REDIRECTS) throw new ContextRefused(`must not redirect more than ${MAX_REDIRECTS} times`);
      redirects++;
      follow(location);
      continue;
    }
    if (status !== 200) throw new ContextRefused(`must be answered with status 200, not ${status}${after}`);
    const type = mediaTypeOf(headers['content-type']);
    const isJson = type === 'application/json' || type.endsWith('+json');
    const alternate = isJson ? undefined : alternateOf(headers['link'], LINKED_DATA);
    if (alternate !== undefined) {
      if (isAlternate) throw new ContextRefused('must not name an alternate that names another alternate');
      isAlternate = true;
      follow(alternate);
      continue;
    }
    return { text: textOf(body), ...(!isJson && { typeFault: `must be JSON, not ${shownType(type)}` }) };
  }
};

const exchange = async (
  outbound: Pick<Outbound, 'send'>,
  tenantId: string,
  url: string,
  timeoutMs: number,
): Promise<OutboundAnswer> => {
  const late = `must arrive within ${TIMEOUT_MS / 1000} seconds`;
  if (timeoutMs < 1) throw new ContextRefused(late);
  try {
    return await outbound.send(url, {
      tenantId,
      headers: { accept: `${LINKED_DATA}, application/json;q=0.9` },
      timeoutMs: Math.floor(timeoutMs),
      maxBytes: MAX_BYTES,
    });
  } catch (error) {
    if (error instanceof DnsBudgetExceeded) throw error;
    if (error instanceof AnswerTooLarge) throw new ContextRefused('must be at most 1 MiB');
    const isLate = (error as { name?: unknown }).name === 'TimeoutError';
    throw new ContextRefused(isLate ? late : UNREACHABLE, { cause: error });
  }
};

const textOf = (body: Uint8Array): string => {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(body);
  } catch (cause) {
    throw new ContextRefused('must be JSON in UTF-8', { cause });
  }
};

/** A well-formed media type of usual length; anything else is not repeated. */
const shownType = (type: string): string =>
  /^[\w!#$&^.+-]{1,60}\/[\w!#$&^.+-]{1,60}$/.test(type) ? type : 'a document without a media type';
