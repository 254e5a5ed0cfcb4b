import type { RecordedEvent } from '@attestry/event-store';
import { credentialConfiguration } from '../credential-configuration/credential-configuration.state.js';
import { storedContext, storedContextStream } from './stored-context.state.js';

/** Streams named after the hash of what they hold: one is as good as another of the same name. */
export const STORED_CONTEXT_CATEGORY = storedContext.category;

/** Streams that an event of a configuration relies on, whichever tenant kept them first. Reads every schema version. */
export const storedContextsOf = ({ stream, data }: Pick<RecordedEvent, 'stream' | 'data'>): string[] => {
  if (!stream.startsWith(`${credentialConfiguration.category}-`)) return [];
  const { content } = data as { content?: { contexts?: { sha256: string }[] } };
  return (content?.contexts ?? []).map(({ sha256 }) => storedContextStream(sha256));
};
