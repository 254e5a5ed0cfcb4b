import { REFUSED_NAME } from '@attestry/contracts';

/** Fault of a name of a claim that has another meaning. @param why a clause that begins with the name */
export const reservedName = (why: string): string => `is a reserved name: ${why}`;

/** Fault of the one name that is no data in JavaScript objects, as which credentials are built and read. */
export const refusedNameFault = (name: string): string | undefined =>
  name === REFUSED_NAME ? reservedName(`${name} would change what a JavaScript object is`) : undefined;
