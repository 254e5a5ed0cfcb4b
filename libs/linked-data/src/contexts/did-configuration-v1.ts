// Copy of https://identity.foundation/.well-known/did-configuration/v1 (DIF Well Known DID Configuration, Apache-2.0), which has the terms
// of its predecessor …/.well-known/contexts/did-configuration-v0.2.jsonld.
export const didConfigurationV1 = {
  '@context': [
    {
      '@version': 1.1,
      '@protected': true,
      LinkedDomains: 'https://identity.foundation/.well-known/resources/did-configuration/#LinkedDomains',
      DomainLinkageCredential:
        'https://identity.foundation/.well-known/resources/did-configuration/#DomainLinkageCredential',
      origin: 'https://identity.foundation/.well-known/resources/did-configuration/#origin',
      linked_dids: 'https://identity.foundation/.well-known/resources/did-configuration/#linked_dids',
    },
  ],
};
