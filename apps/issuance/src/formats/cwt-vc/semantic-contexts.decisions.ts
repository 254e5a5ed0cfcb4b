import { hasUserInformation, type ErrorDetail } from '@attestry/contracts';

/** The first context of every credential (VCDM 1.1 §4.1). */
const DATA_MODEL = 'https://www.w3.org/2018/credentials/v1';

const faultOf = (url: string, before: readonly string[]): string | undefined => {
  if (url === DATA_MODEL) return 'must not be listed, because it is part of every credential';
  if (before.includes(url)) return 'must not repeat a context';
  if (!/^https?:\/\/[\x21-\x7e]+$/i.test(url) || !URL.canParse(url)) return 'must be an https or http URL';
  return hasUserInformation(url) ? 'must not contain credentials' : undefined;
};

/** Contexts are not processed here: the signature covers the bytes, not the graph. */
export const semanticContextFaults = (contexts: readonly string[]): ErrorDetail[] =>
  contexts.flatMap((url, index) => {
    const msg = faultOf(url, contexts.slice(0, index));
    return msg ? [{ value: url, msg, param: `contexts.${index}`, location: 'body' as const }] : [];
  });
