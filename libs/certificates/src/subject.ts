import { Name } from '@peculiar/x509';

export interface CertificateSubject {
  /** PrintableString, cut to 64 characters (RFC 5280 Appendix A.1, ub-common-name). */
  commonName: string;
  /** ISO 3166-1 alpha-2 */
  country: string;
  /** ISO 3166-2 */
  stateOrProvinceName?: string;
}

export const subjectFaults = ({ commonName, country, stateOrProvinceName }: CertificateSubject): string[] => {
  const faults: string[] = [];
  if (!PRINTABLE.test(commonName))
    faults.push("commonName must consist of letters, digits, spaces and the characters '()+,-./:=?");
  if (!/^[A-Z]{2}$/.test(country)) faults.push('country must be two upper-case letters (ISO 3166-1)');
  if (stateOrProvinceName !== undefined && !/^[A-Z]{2}-[A-Z0-9]{1,3}$/.test(stateOrProvinceName))
    faults.push('stateOrProvinceName must be an upper-case code of ISO 3166-2 such as AU-NSW');
  return faults;
};

const PRINTABLE = /^[A-Za-z0-9 '()+,\-./:=?]+$/;

export const subjectName = ({ commonName, country, stateOrProvinceName }: CertificateSubject): Name =>
  new Name([
    { C: [{ printableString: country }] },
    ...(stateOrProvinceName === undefined ? [] : [{ ST: [{ printableString: stateOrProvinceName }] }]),
    { CN: [{ printableString: commonName.slice(0, 64) }] },
  ]);

/** undefined for a name without country or common name */
export const readSubject = (name: Name): CertificateSubject | undefined => {
  const [[country], [commonName], [stateOrProvinceName]] = [
    name.getField('C'),
    name.getField('CN'),
    name.getField('ST'),
  ];
  if (country === undefined || commonName === undefined) return undefined;
  return { commonName, country, ...(stateOrProvinceName !== undefined && { stateOrProvinceName }) };
};

export const isSameName = (a: Name, b: Name): boolean =>
  Buffer.from(a.toArrayBuffer()).equals(Buffer.from(b.toArrayBuffer()));
