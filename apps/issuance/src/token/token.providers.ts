import { AccessTokens } from './access-token/access-tokens.js';
import { RefreshGrant } from './exchange-token/refresh-grant.js';
import { FamilySweep } from './token-family/family-sweep.js';
import { TokenFamilies } from './token-family/token-families.js';

export const tokenProviders = [AccessTokens, TokenFamilies, RefreshGrant, FamilySweep];
