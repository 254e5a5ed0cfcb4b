import type { JsonBounds } from '../json-bounds.js';

/** Claims of a user or an offer; their size as JSON is limited further. */
export const CLAIM_BOUNDS: JsonBounds = { entries: 1000, name: 1024, text: 512_000, depth: 32, values: 20_000 };
