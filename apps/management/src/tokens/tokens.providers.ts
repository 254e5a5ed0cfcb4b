import { KeepTokenKeysFresh } from './rotate-token-keys/keep-token-keys-fresh.js';
import { TokenKeys } from './token-keys/token-keys.js';

export const tokensProviders = [TokenKeys, KeepTokenKeysFresh];
