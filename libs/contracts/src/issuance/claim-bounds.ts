import type { JsonBounds } from '../json/json-bounds.js';

/** Bounds of the claims of a user or an offer; their size as JSON has a limit of its own. */
export const CLAIM_BOUNDS: JsonBounds = { entries: 1000, name: 1024, text: 512_000, depth: 32, values: 20_000 };
