/** A certificate or revocation list that is refused. */
export class CertificateFault extends Error {
  /** @param faults each begins with `must` or with the name of the member that must change */
  constructor(
    readonly faults: readonly string[],
    options?: ErrorOptions,
  ) {
    super(faults.join('; '), options);
    this.name = 'CertificateFault';
  }
}

/** @throws CertificateFault when there is a fault */
export const throwFaults = (faults: readonly (string | false | undefined)[]): void => {
  const found = faults.filter((fault) => typeof fault === 'string');
  if (found.length) throw new CertificateFault(found);
};
