import { CodeGrant } from './exchange-token/code-grant.js';
import { RefreshGrant } from './exchange-token/refresh-grant.js';
import { FamilySweep } from './token-family/family-sweep.js';
import { TokenFamilies } from './token-family/token-families.js';

export const tokenProviders = [TokenFamilies, CodeGrant, RefreshGrant, FamilySweep];
