// Copy of https://www.w3.org/ns/credentials/undefined-terms/v2 (W3C Software and Document License), as published in @digitalbazaar/credentials-context 3.2.0.
export const undefinedTermsV2 = {
  '@context': {
    '@vocab': 'https://www.w3.org/ns/credentials/undefined-term#',
  },
};
