import { canonicalLanguageTag } from './language-tags.js';
import {
  ABSOLUTE_URI_PATTERN,
  CLAIM_PATH_PATTERN,
  IMAGE_URL_PATTERN,
  LANGUAGE_TAG_PATTERN,
  PARAMETER_PATH_PATTERN,
  SERVICE_URL_PATTERN,
} from './patterns.js';

describe('the patterns of the interface definitions', () => {
  const portable = [
    ABSOLUTE_URI_PATTERN,
    CLAIM_PATH_PATTERN,
    IMAGE_URL_PATTERN,
    LANGUAGE_TAG_PATTERN,
    PARAMETER_PATH_PATTERN,
    SERVICE_URL_PATTERN,
  ];
  it.each(portable)('need no flags and no look-around: %s', (pattern) => {
    expect(pattern.flags).toBe('');
    expect(pattern.source).not.toMatch(/\(\?[=!<]/);
    // JSON Schema 2020-12 §6.3.3 and ajv: with the flag `u`, which refuses more.
    expect(() => new RegExp(pattern.source, 'u')).not.toThrow();
  });

  it.each([
    ...['en', 'de-CH', 'zh-Hant-TW', 'sl-rozaj-biske', 'de-1996', 'es-419', 'en-u-ca-gregory', 'en-x-a-b', 'DE-ch'],
  ])('accept the language tag %s', (tag) => {
    expect([LANGUAGE_TAG_PATTERN.test(tag), canonicalLanguageTag(tag)]).toEqual([true, expect.any(String)]);
  });

  it.each(['', 'e', 'en_US', 'en-', '-en', 'en-a', 'abcd', 'en-x', 'deutsch-ä', 'en US'])(
    'refuse the language tag %p',
    (tag) => {
      expect([LANGUAGE_TAG_PATTERN.test(tag), canonicalLanguageTag(tag)]).toEqual([false, undefined]);
    },
  );

  it.each([
    [
      IMAGE_URL_PATTERN,
      ['https://a.example/x.png', 'HTTPS://a', 'data:image/png;base64,AA==', 'data:image/svg+xml,%3C'],
    ],
    [SERVICE_URL_PATTERN, ['https://a.example/x', 'http://localhost:3000', 'HTTPS://A']],
    [
      ABSOLUTE_URI_PATTERN,
      ['urn:example:degree', 'https://example.com/types/degree?x=[1]#a'.replace('#a', ''), 'A+b:c'],
    ],
    [PARAMETER_PATH_PATTERN, ['credentialConfiguration.type', 'claims.email']],
  ] as const)('accept with %s', (pattern, texts) => {
    for (const text of texts) expect([text, pattern.test(text)]).toEqual([text, true]);
  });

  it.each([
    [IMAGE_URL_PATTERN, ['http://a.example/x.png', 'data:text/html,x', 'https://a b', 'https://', 'logo.png']],
    [SERVICE_URL_PATTERN, ['ftp://a', 'https://', 'https://a b', 'a.example']],
    [ABSOLUTE_URI_PATTERN, ['degree', '1:x', 'urn:', 'urn:a b', 'urn:a#b', 'urn:"']],
    [PARAMETER_PATH_PATTERN, ['credentialConfiguration.name', 'credentialConfiguration', 'email']],
  ] as const)('refuse with %s', (pattern, texts) => {
    for (const text of texts) expect([text, pattern.test(text)]).toEqual([text, false]);
  });
});
