import { IssuerKeys } from './issuer-keys/issuer-keys.js';
import { TypeClaims } from './type-claims/type-claims.js';

export const configurationsProviders = [TypeClaims, IssuerKeys];
