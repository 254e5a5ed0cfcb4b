import { AppError } from '@attestry/contracts';

/** Its first token has expired: another one is signed when a credential refers to the list. */
export const notUsed = (): AppError =>
  new AppError('unavailable', 'No credential refers to the status list yet: its token is signed with the first one', {
    headers: { 'retry-after': '1' },
  });

/** A credential may refer to a list that was opened a moment ago. */
export const notSigned = (): AppError =>
  new AppError('unavailable', 'The first token of the status list is not signed yet', {
    headers: { 'retry-after': '1' },
  });
