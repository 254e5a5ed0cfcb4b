import type { RecordedEvent } from '@attestry/event-store';
import { credentialConfiguration } from '../../settings/credential-configuration/credential-configuration.state.js';
import { storedContext, storedContextStream } from './stored-context.state.js';

/** Streams named by the hash of their content: streams of the same name are identical. */
export const STORED_CONTEXT_CATEGORY = storedContext.category;

/** Streams that an event of a configuration refers to, whichever tenant created them. Reads every schema version. */
export const storedContextsOf = ({ stream, data }: Pick<RecordedEvent, 'stream' | 'data'>): string[] => {
  if (!stream.startsWith(`${credentialConfiguration.category}-`)) return [];
  const { content } = data as { content?: { contexts?: { sha256: string }[] } };
  return (content?.contexts ?? []).map(({ sha256 }) => storedContextStream(sha256));
};
