/** Characters that a token of a subject, a key and a consumer name may all have. Others become `=<hex>=`. */
export const token = (text: string): string =>
  text.replace(/[^A-Za-z0-9_-]/gu, (character) => `=${character.codePointAt(0)!.toString(16)}=`);

export const DEFAULT_NAMESPACE = 'attestry';

/** What the platform calls its subjects, its stream and its buckets on a NATS server. */
export class Names {
  /** @param namespace so that several platforms can share a server; letters, digits, `-` and `_` */
  constructor(private readonly namespace: string) {
    if (!/^[A-Za-z0-9_-]+$/.test(namespace)) throw new Error(`a namespace is letters, digits, - and _: ${namespace}`);
  }

  get stream(): string {
    return `${this.namespace}_feed`;
  }

  get leases(): string {
    return `${this.namespace}_leases`;
  }

  get parked(): string {
    return `${this.namespace}_parked`;
  }

  /** Servers of a subject share one queue group. */
  get queue(): string {
    return this.namespace;
  }

  request(subject: string): string {
    return `${this.namespace}.call.${subject}`;
  }

  event(subject: string): string {
    return `${this.namespace}.feed.${subject}`;
  }

  /** The subject of an event from the one it was published on. */
  subjectOf(published: string): string {
    return published.slice(this.namespace.length + '.feed.'.length);
  }

  /**
   * The narrowest filter that lets all subjects through: a consumer of nats-server 2.9 has only one. What it lets through
   * beside them is passed over by the client.
   */
  filter(subjects: readonly string[]): string {
    const [first = '>', ...others] = subjects;
    if (others.length === 0) return this.event(first);
    // `a.>` does not let `a` itself through: the last part of each stays open.
    const open = (subject: string) => subject.split('.').slice(0, -1);
    const common = open(first);
    for (const parts of others.map(open)) {
      const differs = common.findIndex((part, at) => part !== parts[at]);
      if (differs >= 0) common.length = differs;
    }
    return this.event([...common, '>'].join('.'));
  }
}
