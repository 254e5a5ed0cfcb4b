import type { StreamName } from '../event-store.js';
import { CATEGORY_WITHOUT_TENANT } from '../tenant-of.js';

/** Streams that the server sends: by the beginnings of their names, or by a regular expression. */
export type StreamFilter = { prefixes: readonly string[] } | { regex: string };

const escaped = (text: string) => text.replace(/[^\w-]/g, '\\$&');

/**
 * The streams of one platform on a server that has no databases: `<category>-<id>`, or `<prefix>.<category>-<id>`. A category has no dot, so
 * that a platform without a prefix leaves those with one alone, and no prefix is the beginning of another.
 */
export class StreamNames {
  private readonly start: string;

  /** @throws RangeError */
  constructor(prefix?: string) {
    if (prefix !== undefined && !/^[A-Za-z0-9_]+$/.test(prefix))
      throw new RangeError(`a prefix is letters, digits and _: ${prefix}`);
    this.start = prefix === undefined ? '' : `${prefix}.`;
  }

  /** Name at the server. @throws RangeError */
  outer(stream: StreamName): string {
    if (!/^[^$.-][^.-]*-/.test(stream))
      throw new RangeError(`${stream} is not a stream name of the form <category>-<id>; a category has no dot`);
    return `${this.start}${stream}`;
  }

  /** Undefined for a stream that is not of this platform. @param name at the server */
  inner(name: string): StreamName | undefined {
    if (!name.startsWith(this.start)) return undefined;
    const stream = name.slice(this.start.length);
    return /^[^$.-][^.-]*-/.test(stream) ? stream : undefined;
  }

  /** @param categories absent: every category */
  ofCategories(categories: readonly string[] | undefined): StreamFilter {
    return categories === undefined
      ? { regex: `^${escaped(this.start)}[^$.-][^.-]*-` }
      : { prefixes: categories.map((category) => `${this.start}${category}-`) };
  }

  /** Streams with a tenant in their name, and those without one, which may hold events of any. */
  ofTenant(tenantId: string): StreamFilter {
    const [start, id] = [escaped(this.start), escaped(tenantId)];
    return { regex: `^${start}[^$+.-][^+.-]*-(${id}\\+|[^+]*$)|^${start}[^$.-]*${CATEGORY_WITHOUT_TENANT}-` };
  }
}
