import { defineOperation, publicAccess } from '../operation.js';

/**
 * The platform's own JSON-LD context, at `CONTEXT_URL`: it never changes, so that the meaning of an issued credential never changes
 * (ADR 0060).
 */
export const retrieveContext = defineOperation({
  name: 'issuance.retrieve-context',
  summary: 'Retrieve the JSON-LD context of the platform',
  description: 'Its `@vocab` maps every claim that no other context defines to a term.',
  http: {
    method: 'GET',
    path: '/v1',
    success: 200,
    hosts: ['contexts'],
    document: true,
    cacheControl: 'public, max-age=31536000, immutable',
    mediaType: 'application/ld+json',
  },
  access: publicAccess,
});
