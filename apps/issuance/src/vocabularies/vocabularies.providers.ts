import { ContextLoader } from './contexts/context-loader.js';

export const vocabulariesProviders = [ContextLoader];
