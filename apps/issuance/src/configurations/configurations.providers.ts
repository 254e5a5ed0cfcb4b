import { SavedConfigurations } from './configuration-checks/saved-configurations.js';
import { ConfigurationClaims } from './create-credential-configuration/configuration-claims.js';
import { IssuerKeys } from './issuer-keys/issuer-keys.js';
import { TypeClaims } from './type-claims/type-claims.js';

export const configurationsProviders = [TypeClaims, IssuerKeys, ConfigurationClaims, SavedConfigurations];
