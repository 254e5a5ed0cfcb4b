import type { Certificate } from '@attestry/certificates';
import type { StoredX509 } from './mobile-certificates.events.js';

/** A certificate as it is stored. */
export const storedX509 = ({
  der,
  fingerprint,
  serialNumber,
  subject,
  notBefore,
  notAfter,
  hosts,
}: Certificate): StoredX509 => ({
  certificate: Buffer.from(der).toString('base64'),
  fingerprint,
  serialNumber,
  // The profile of IACAs and document signers requires a subject.
  data: { ...subject!, notBefore: notBefore.toISOString(), notAfter: notAfter.toISOString() },
  ...(hosts.length && { hosts }),
});

export const derOf = ({ certificate }: Pick<StoredX509, 'certificate'>): Buffer => Buffer.from(certificate, 'base64');
