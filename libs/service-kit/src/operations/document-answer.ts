import { createHash } from 'node:crypto';
import type { DocumentAnswer, HttpAnswer } from '@attestry/contracts';

interface Text {
  text: string;
}
interface Known {
  digest: string;
  /** For calls at once; the garbage collector takes it. */
  text: WeakRef<Text>;
}

/** Digests of JSON that a use case returns again as long as it is the same. */
const known = new WeakMap<object, Known>();

const digestOf = (kind: string, content: string): string =>
  createHash('sha256').update(`${kind}\n`).update(content).digest('base64url');

/**
 * A public document for a caller that keeps its bytes: its digest, and its content unless the caller holds it. A frozen body is made text once
 * as long as it exists. Answers without content, or with another status, are returned unchanged.
 * @param held digests that the caller holds
 */
export const documentAnswer = (result: unknown, success: number, held: string): DocumentAnswer | undefined => {
  const { status = success, headers, body, base64 } = (result as HttpAnswer | null)?.$http ?? { body: result };
  if (status !== success || (base64 === undefined && (body === undefined || body === null))) return undefined;
  const kind = base64 !== undefined ? 'base64' : typeof body === 'string' ? 'text' : 'json';
  const answer = (digest: string, content: () => string): DocumentAnswer => ({
    $document: { digest, kind, ...(headers && { headers }), ...(!held.includes(digest) && { content: content() }) },
  });
  if (kind !== 'json') {
    const content = base64 ?? (body as string);
    return answer(digestOf(kind, content), () => content);
  }
  const before = known.get(body as object);
  const textOf = (): string => {
    const made = before?.text.deref() ?? { text: JSON.stringify(body) };
    known.set(body as object, { digest: before?.digest ?? digestOf(kind, made.text), text: new WeakRef(made) });
    return made.text;
  };
  if (before) return answer(before.digest, textOf);
  const text = textOf();
  return answer(known.get(body as object)!.digest, () => text);
};
