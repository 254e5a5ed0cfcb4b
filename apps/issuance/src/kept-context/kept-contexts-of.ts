import type { RecordedEvent } from '@attestry/event-store';
import { credentialConfiguration } from '../credential-configuration/credential-configuration.state.js';
import { keptContext, keptContextStream } from './kept-context.state.js';

/** Streams named by the hash of their content: streams of the same name are identical. */
export const KEPT_CONTEXT_CATEGORY = keptContext.category;

/** Streams that an event of a configuration refers to, whichever tenant created them. Reads every schema version. */
export const keptContextsOf = ({ stream, data }: Pick<RecordedEvent, 'stream' | 'data'>): string[] => {
  if (!stream.startsWith(`${credentialConfiguration.category}-`)) return [];
  const { content } = data as { content?: { contexts?: { sha256: string }[] } };
  return (content?.contexts ?? []).map(({ sha256 }) => keptContextStream(sha256));
};
