import { oauthError, rulesOf, type DtoClass } from '@attestry/contracts';

/** More than any wallet or provider sends. */
const MAX_PARAMETERS = 100;

/** Most characters of each parameter, as a class of the contracts declares them. */
export const maxLengthsOf = (declared: DtoClass): ReadonlyMap<string, number> =>
  new Map(
    rulesOf(declared)
      .filter(({ name, each }) => name === 'maxLength' && !each)
      .map(({ propertyName, constraints }) => [propertyName, constraints![0] as number]),
  );

/**
 * Bounds parameters before any other processing.
 * @param maxLengths of parameters that are known; of others the number is limited, and the request as a whole
 * @throws AppError `invalid_request`
 */
export const checkLengths = (maxLengths: ReadonlyMap<string, number>, parameters: URLSearchParams): void => {
  const refused = (description: string) => oauthError('invalid_request', description, { check: 'check-lengths' });
  if (parameters.size > MAX_PARAMETERS) throw refused(`there must be at most ${MAX_PARAMETERS} parameters`);
  for (const [name, value] of parameters) {
    const most = maxLengths.get(name);
    if (most !== undefined && value.length > most) throw refused(`${name} must have at most ${most} characters`);
  }
};
