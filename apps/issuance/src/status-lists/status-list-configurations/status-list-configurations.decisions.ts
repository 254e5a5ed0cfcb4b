import { conflict, invalid, invalidBody, notFound, type Duration, type ErrorDetail } from '@attestry/contracts';
import type {
  ConfiguredStatusLists,
  StatusListConfigurationsEvent,
  TokenDurations,
} from './status-list-configurations.events.js';
import type { StatusListConfigurationsState } from './status-list-configurations.state.js';

const MAX_CONFIGURATIONS = 100;
const MINUTE = 60;
const LONGEST_DAYS = 30;
const LONGEST = LONGEST_DAYS * 86_400;

/** Seconds. */
export interface TokenTimes {
  /** For which a verifier may use a token; a token is replaced at half of it. */
  timeToLive: number;
  /** Until a token expires that could not be replaced. */
  lifetime: number;
}

/** Times of lists without a configuration, and of every list that is not of mobile documents. */
export const DEFAULT_TIMES: TokenTimes = { timeToLive: 300, lifetime: 3600 };

/** A month has 30 days and a year 365: tokens have the same times at any time of the year. */
const secondsIn = ({ years = 0, months = 0, weeks = 0, days = 0, hours = 0, minutes = 0, seconds = 0 }: Duration) =>
  (((years * 365 + months * 30 + weeks * 7 + days) * 24 + hours) * 60 + minutes) * 60 + seconds;

export const timesOf = (state: StatusListConfigurationsState, docType: string): TokenTimes => {
  const found = state.find((one) => one.docType === docType);
  return found
    ? { timeToLive: secondsIn(found.timeToLiveDuration), lifetime: secondsIn(found.expiryDuration) }
    : DEFAULT_TIMES;
};

/** @throws AppError 400 with a detail per fault */
const checkDurations = ({ timeToLiveDuration, expiryDuration }: TokenDurations): void => {
  const [timeToLive, expiry] = [secondsIn(timeToLiveDuration), secondsIn(expiryDuration)];
  const faults: ErrorDetail[] = [];
  const fault = (param: keyof TokenDurations, value: Duration, msg: string) =>
    faults.push({ value, msg, param, location: 'body' });
  if (timeToLive < MINUTE) fault('timeToLiveDuration', timeToLiveDuration, 'must be at least 1 minute');
  if (expiry > LONGEST) fault('expiryDuration', expiryDuration, `must be at most ${LONGEST_DAYS} days`);
  else if (expiry < timeToLive) fault('expiryDuration', expiryDuration, 'must be at least timeToLiveDuration');
  if (faults.length) throw invalid(...faults);
};

/** @throws AppError 400, 409 */
export const createConfiguration = (
  state: StatusListConfigurationsState,
  configuration: ConfiguredStatusLists,
): StatusListConfigurationsEvent[] => {
  checkDurations(configuration);
  const { docType } = configuration;
  if (state.some((one) => one.docType === docType))
    throw invalidBody('docType', 'must be unique: another status list configuration of the tenant has it', docType);
  if (state.length >= MAX_CONFIGURATIONS)
    throw conflict(`A tenant can have at most ${MAX_CONFIGURATIONS} status list configurations`);
  return [{ type: 'StatusListConfigurationCreated', data: configuration }];
};

/** @throws AppError 404 */
export const requireConfiguration = (state: StatusListConfigurationsState, id: string): ConfiguredStatusLists => {
  const found = state.find((one) => one.id === id);
  if (!found) throw notFound();
  return found;
};

/** @throws AppError 404, 400 */
export const updateConfiguration = (
  state: StatusListConfigurationsState,
  id: string,
  durations: TokenDurations,
): StatusListConfigurationsEvent[] => {
  const { timeToLiveDuration, expiryDuration } = requireConfiguration(state, id);
  checkDurations(durations);
  return JSON.stringify(durations) === JSON.stringify({ timeToLiveDuration, expiryDuration })
    ? []
    : [{ type: 'StatusListConfigurationUpdated', data: { id, ...durations } }];
};

/** @throws AppError 404 */
export const deleteConfiguration = (
  state: StatusListConfigurationsState,
  id: string,
): StatusListConfigurationsEvent[] => {
  requireConfiguration(state, id);
  return [{ type: 'StatusListConfigurationDeleted', data: { id } }];
};

/** Stored form: without members that a request leaves out. */
export const durationsOf = ({ timeToLiveDuration, expiryDuration }: TokenDurations): TokenDurations => ({
  timeToLiveDuration: given(timeToLiveDuration),
  expiryDuration: given(expiryDuration),
});
const given = (duration: Duration): Duration =>
  Object.fromEntries(Object.entries(duration).filter(([, amount]) => typeof amount === 'number'));
