import { oauthError } from '@attestry/contracts';
import { MAX_DOCUMENT_BYTES } from '../../formats/document-size.decisions.js';

/** The documents to keep, as JSON. @throws before anything is stored, when one is too large */
export const credentialTexts = (credentials: readonly (string | Record<string, unknown>)[]): string[] =>
  credentials.map((credential) => {
    const text = JSON.stringify(credential);
    if (Buffer.byteLength(text) > MAX_DOCUMENT_BYTES)
      throw oauthError(
        'credential_request_denied',
        'a credential that is persisted or delivered to a webhook must be at most 384 KiB',
        {
          check: 'credential-texts',
        },
      );
    return text;
  });
