import { oauthError } from '@attestry/contracts';

/** RFC 6749 §3.2: request parameters must not be included more than once; only a resource may be (RFC 8707 §2). */
export const checkNoDuplicates = (form: URLSearchParams): void => {
  const seen = new Set<string>();
  for (const name of form.keys()) {
    if (seen.has(name) && name !== 'resource')
      throw oauthError('invalid_request', 'a parameter must not be sent more than once', {
        check: 'check-no-duplicates',
      });
    seen.add(name);
  }
};
