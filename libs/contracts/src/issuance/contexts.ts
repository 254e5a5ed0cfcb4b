import { defineOperation, publicAccess } from '../operation.js';

/**
 * The platform's own JSON-LD context, at `CONTEXT_URL`: it never changes, so that credentials signed over it stay valid
 * (ADR 0060).
 */
export const retrieveContext = defineOperation({
  name: 'issuance.retrieve-context',
  summary: 'The JSON-LD context that gives every claim a term (`@vocab`)',
  http: {
    method: 'GET',
    path: '/v1',
    success: 200,
    hosts: ['contexts'],
    cacheControl: 'public, max-age=31536000, immutable',
    mediaType: 'application/ld+json',
  },
  access: publicAccess,
  errors: 'tenant',
});
