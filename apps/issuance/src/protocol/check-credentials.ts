import { isUuid, type ErrorDetail } from '@attestry/contracts';

export interface CheckedCredentials {
  /** Ids of configurations, not yet known to exist. */
  configurationIds: string[];
  details: ErrorDetail[];
}

/** `credentials` of an offer request: ids of credential configurations, each once. */
export const checkCredentials = (credentials: readonly unknown[]): CheckedCredentials => {
  const details: ErrorDetail[] = [];
  const fault = (msg: string, value?: unknown) =>
    details.push({ ...(value !== undefined && { value }), msg, param: 'credentials', location: 'body' });
  const seen = new Set<string>();
  for (const entry of credentials) {
    if (typeof entry === 'object' && entry !== null)
      fault('must be ids of credential configurations; claim sets are not supported yet');
    else if (!isUuid(entry)) fault('must be ids of credential configurations', entry);
    else if (seen.has(entry.toLowerCase())) fault('must not repeat a configuration', entry);
    else seen.add(entry.toLowerCase());
  }
  return { configurationIds: [...seen], details };
};
