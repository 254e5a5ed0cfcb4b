import { pageRow, type Row } from './row.js';

export const analyticsRows: Record<string, Row> = {
  'analytics.list-events': pageRow,
  'analytics.export-events': {
    right: () => ({ query: { dateFrom: '2026-01-01', dateTo: new Date().toISOString() } }),
    wrong: () => ({ query: { format: 'xlsx' } }),
    refusal: { status: 400, param: 'format', location: 'query' },
  },
  'analytics.list-event-types': {
    right: () => ({}),
    wrong: () => ({ method: 'DELETE' }),
    refusal: { status: 405 },
  },
};
