import { randomBytes } from 'node:crypto';

/** Characters that a token of a subject, a key and a consumer name may all have. Others become `=<hex>=`. */
export const token = (text: string): string =>
  text.replace(/[^A-Za-z0-9_-]/gu, (character) => `=${character.codePointAt(0)!.toString(16)}=`);

export const DEFAULT_NAMESPACE = 'attestry';

/** Owner of consumers without an owner in their name. */
export const NO_OWNER = 'consumers';

/** Owner of a consumer: `webhooks` of `webhooks.deliveries`. */
export const ownerOf = (consumer: string): string => {
  const dot = consumer.indexOf('.');
  return dot > 0 ? consumer.slice(0, dot) : NO_OWNER;
};

/** Names of the platform's subjects, stream and buckets on a NATS server. */
export class Names {
  /** @param namespace so that several platforms can share a server; letters, digits, `-` and `_` */
  constructor(private readonly namespace: string) {
    if (!/^[A-Za-z0-9_-]+$/.test(namespace)) throw new Error(`a namespace is letters, digits, - and _: ${namespace}`);
  }

  get stream(): string {
    return `${this.namespace}_feed`;
  }

  /** The bucket with the leases and sessions of an owner's consumers. No other user may read it. */
  bucket(owner: string): string {
    return `${this.namespace}_${token(owner)}`;
  }

  leaseKey(consumer: string): string {
    return `lease.${token(consumer)}`;
  }

  /** Key of the names of a durable consumer's JetStream consumers. */
  sessionsKey(consumer: string): string {
    return `sessions.${token(consumer)}`;
  }

  /**
   * A name for a JetStream consumer. Permissions of a server cannot distinguish consumers of one stream by a part of their name, so any user
   * with the name can use the consumer: it has 128 random bits and is stored only where its owner can read it.
   */
  session(consumer: string, epoch?: number): string {
    return [token(consumer), ...(epoch === undefined ? [] : [epoch]), randomBytes(16).toString('base64url')].join('~');
  }

  /** Servers of a subject share one queue group. */
  get queue(): string {
    return this.namespace;
  }

  /** Replies to one participant; no other may subscribe here. */
  inbox(participant: string): string {
    return `_INBOX_${this.namespace}_${token(participant)}`;
  }

  /**
   * Subject on which a participant sends requests. The server's permissions decide who may publish on it, so no participant can send in
   * another's name.
   */
  request(from: string, subject: string): string {
    return `${this.namespace}.call.${token(from)}.${subject}`;
  }

  /** Subject on which requests of all participants are received. */
  serving(subject: string): string {
    return `${this.namespace}.call.*.${subject}`;
  }

  /**
   * Participant that sent a request, by the subject of publication. `undefined`: it arrived by another way. A message delivered by
   * JetStream keeps the subject it was stored under, wherever a consumer sends it to.
   */
  callerOf(published: string, subject: string): string | undefined {
    const before = `${this.namespace}.call.`;
    const behind = `.${subject}`;
    if (!published.startsWith(before) || !published.endsWith(behind)) return undefined;
    const from = published.slice(before.length, -behind.length);
    return from === '' || from.includes('.') ? undefined : from;
  }

  event(subject: string): string {
    return `${this.namespace}.feed.${subject}`;
  }

  /** The subject of an event from the one it was published on. */
  subjectOf(published: string): string {
    return published.slice(this.namespace.length + '.feed.'.length);
  }

  /**
   * The narrowest filter that matches all subjects: a consumer of nats-server 2.9 has only one. The client skips the other subjects that it
   * matches.
   */
  filter(subjects: readonly string[]): string {
    const [first = '>', ...others] = subjects;
    if (others.length === 0) return this.event(first);
    // `a.>` does not match `a` itself: the last part of each stays open.
    const parentOf = (subject: string) => subject.split('.').slice(0, -1);
    const common = parentOf(first);
    for (const parts of others.map(parentOf)) {
      const differs = common.findIndex((part, at) => part !== parts[at]);
      if (differs >= 0) common.length = differs;
    }
    return this.event([...common, '>'].join('.'));
  }
}
