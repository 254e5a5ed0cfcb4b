// The test levels: by the ending of a spec file's name.

/** Jest projects and nx targets have these names. */
export const levels = {
  /** Pure. */
  unit: '.spec.ts',
  /** Every adapter of a port. */
  contracts: '.contract.spec.ts',
  /** One service on its engines. */
  int: '.int.spec.ts',
  /** Processes over HTTP. */
  e2e: '.e2e.spec.ts',
  /** A cluster under faults. */
  faults: '.faults.spec.ts',
};

/** @returns {string} the level of a file, or undefined for one that is no spec */
export const levelOf = (file) => Object.keys(levels).findLast((level) => file.endsWith(levels[level]));
