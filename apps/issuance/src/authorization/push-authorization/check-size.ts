import { oauthError } from '@attestry/contracts';

/** Maximum of the parameters in the encoding of a form, in which they are stored and passed on; the query of the authorization endpoint has no more. */
const MAX_PARAMETERS_LENGTH = 16_384;

/** RFC 9126 §2.3 */
export const checkSize = (parameters: string): void => {
  if (parameters.length > MAX_PARAMETERS_LENGTH)
    throw oauthError(
      'invalid_request',
      `the form-encoded parameters must have at most ${MAX_PARAMETERS_LENGTH} characters together`,
      { check: 'check-size' },
    );
};
