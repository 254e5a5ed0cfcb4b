import { given } from '@attestry/event-store';
import { keepContext } from './kept-context.decisions.js';
import type { KeptContextEvent } from './kept-context.events.js';
import { keptContext } from './kept-context.state.js';

const document = { sha256: 'digest', document: '{"@context":{}}' };
const kept: KeptContextEvent = { type: 'ContextKept', data: document };

describe('kept context', () => {
  it('is kept once', () => {
    given(keptContext, [])
      .when((state) => keepContext(state, document))
      .then([kept]);
    given(keptContext, [kept])
      .when((state) => keepContext(state, document))
      .then([]);
  });
});
