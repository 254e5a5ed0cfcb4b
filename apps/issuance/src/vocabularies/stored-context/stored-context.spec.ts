import { given } from '@attestry/event-store';
import { keepContext } from './stored-context.decisions.js';
import type { StoredContextEvent } from './stored-context.events.js';
import { storedContext } from './stored-context.state.js';

const document = { sha256: 'digest', document: '{"@context":{}}' };
const kept: StoredContextEvent = { type: 'ContextStored', data: document };

describe('a stored context', () => {
  it('is stored once', () => {
    given(storedContext, [])
      .when((state) => keepContext(state, document))
      .then([kept]);
    given(storedContext, [kept])
      .when((state) => keepContext(state, document))
      .then([]);
  });
});
