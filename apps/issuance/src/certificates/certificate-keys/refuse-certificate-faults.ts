import { invalid } from '@attestry/contracts';

/** @throws AppError 400 with a detail for each fault that `parse` finds in a certificate or CRL of the request */
export const refuseCertificateFaults = async <T>(param: string, parse: () => T | Promise<T>): Promise<T> => {
  try {
    return await parse();
  } catch (error) {
    const { CertificateFault } = await import('@attestry/certificates');
    if (!(error instanceof CertificateFault)) throw error;
    throw invalid(
      ...error.faults.map((fault) => ({
        msg: fault.startsWith('must ') ? fault : `must be correct: ${fault}`,
        param,
        location: 'body' as const,
      })),
    );
  }
};
