import { IssuerBrands } from './issuer-brands/issuer-brands.js';
import { IssuerDomainUsage } from './issuer-domain/issuer-domain-usage.js';
import { IssuerDomain } from './issuer-domain/issuer-domain.js';
import { WithdrawnDomains } from './issuer-domain/withdrawn-domains.directory.js';
import { IssuerNames } from './issuer-names/issuer-names.js';
import { PublishedIssuer } from './issuer-names/published-issuer.js';
import { PublishedSizes } from './published-size/published-size.js';

export const issuerProviders = [
  PublishedSizes,
  IssuerBrands,
  IssuerDomain,
  IssuerDomainUsage,
  IssuerNames,
  PublishedIssuer,
  WithdrawnDomains,
];
