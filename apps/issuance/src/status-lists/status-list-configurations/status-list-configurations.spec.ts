import type { AppError } from '@attestry/contracts';
import { given, stateAfter } from '@attestry/event-store';
import {
  createConfiguration,
  deleteConfiguration,
  durationsOf,
  timesOf,
  updateConfiguration,
} from './status-list-configurations.decisions.js';
import type { ConfiguredStatusLists, StatusListConfigurationsEvent } from './status-list-configurations.events.js';
import { statusListConfigurations } from './status-list-configurations.state.js';

const DAYS = { timeToLiveDuration: { days: 1 }, expiryDuration: { days: 2 } };
const mdl: ConfiguredStatusLists = { id: 'c1', docType: 'org.iso.18013.5.1.mDL', ...DAYS };
const created = (data: ConfiguredStatusLists): StatusListConfigurationsEvent => ({
  type: 'StatusListConfigurationCreated',
  data,
});
const stateOf = (...events: StatusListConfigurationsEvent[]) => stateAfter(statusListConfigurations, events);
const faultsOf = (decide: () => unknown) => {
  try {
    decide();
  } catch (error) {
    return (error as AppError).details!.map(({ param, msg }) => [param, msg]);
  }
  throw new Error('it was not refused');
};

describe('a status list configuration', () => {
  it('belongs to a document type, at most 100 to a tenant', () => {
    given(statusListConfigurations, [])
      .when((state) => createConfiguration(state, mdl))
      .then([created(mdl)]);
    expect(faultsOf(() => createConfiguration(stateOf(created(mdl)), { ...mdl, id: 'c2' }))).toEqual([
      ['docType', 'must be unique: another status list configuration of the tenant has it'],
    ]);
    const many = Array.from({ length: 100 }, (_, n) => created({ ...mdl, id: `c${n}`, docType: `type ${n}` }));
    given(statusListConfigurations, many)
      .when((state) => createConfiguration(state, mdl))
      .thenThrows('Conflict');
    expect(() => createConfiguration(stateOf(...many), mdl)).toThrow(
      'A tenant can have at most 100 status list configurations',
    );
    given(statusListConfigurations, many.slice(1))
      .when((state) => createConfiguration(state, mdl))
      .then([created(mdl)]);
  });

  it.each([
    [{ seconds: 59 }, { days: 1 }, [['timeToLiveDuration', 'must be at least 1 minute']]],
    [{}, {}, [['timeToLiveDuration', 'must be at least 1 minute']]],
    [{ hours: 2 }, { minutes: 119 }, [['expiryDuration', 'must be at least timeToLiveDuration']]],
    [{ hours: 2 }, { days: 30, seconds: 1 }, [['expiryDuration', 'must be at most 30 days']]],
    [{ minutes: 1 }, { months: 1 }, []],
    [{ minutes: 1 }, { minutes: 1 }, []],
  ])('with %j and %j: %j', (timeToLiveDuration, expiryDuration, faults) => {
    const durations = { timeToLiveDuration, expiryDuration };
    const decide = () => createConfiguration([], { ...mdl, ...durations });
    const update = () => updateConfiguration(stateOf(created(mdl)), 'c1', durations);
    if (faults.length) expect([faultsOf(decide), faultsOf(update)]).toEqual([faults, faults]);
    else expect([decide(), update()]).toHaveLength(2);
  });

  it('changes its durations alone, and is deleted [T174]', () => {
    const durations = { timeToLiveDuration: { hours: 1 }, expiryDuration: { hours: 2 } };
    given(statusListConfigurations, [created(mdl)])
      .when((state) => updateConfiguration(state, 'c1', durations))
      .then([{ type: 'StatusListConfigurationUpdated', data: { id: 'c1', ...durations } }]);
    given(statusListConfigurations, [created(mdl)])
      .when((state) => updateConfiguration(state, 'c1', DAYS))
      .then([]);
    given(statusListConfigurations, [created(mdl)])
      .when((state) => deleteConfiguration(state, 'c1'))
      .then([{ type: 'StatusListConfigurationDeleted', data: { id: 'c1' } }]);
    given(statusListConfigurations, [])
      .when((state) => deleteConfiguration(state, 'c1'))
      .thenThrows('NotFound');
    given(statusListConfigurations, [])
      .when((state) => updateConfiguration(state, 'c1', DAYS))
      .thenThrows('NotFound');
    expect(
      stateOf(
        created(mdl),
        { type: 'StatusListConfigurationUpdated', data: { id: 'c1', ...durations } },
        created({ ...mdl, id: 'c2', docType: 'x' }),
        { type: 'StatusListConfigurationDeleted', data: { id: 'c2' } },
      ),
    ).toEqual([{ ...mdl, ...durations }]);
  });

  it('has the times of the tokens; those of a type without one are 300 seconds and an hour', () => {
    const state = stateOf(created(mdl));
    expect(timesOf(state, mdl.docType)).toEqual({ timeToLive: 86_400, lifetime: 172_800 });
    expect(timesOf(state, 'another')).toEqual({ timeToLive: 300, lifetime: 3600 });
  });

  it('is stored without members that a request leaves out', () => {
    const durations = { timeToLiveDuration: { days: 1, hours: null }, expiryDuration: { days: 2, weeks: undefined } };
    expect(JSON.stringify(durationsOf(durations as never))).toBe(JSON.stringify(DAYS));
  });
});
