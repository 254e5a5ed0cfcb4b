import { CertificateFault } from '@attestry/certificates';
import { AppError } from '@attestry/contracts';
import { refuseCertificateFaults } from './refuse-certificate-faults.js';

const refuse = (error: Error) =>
  refuseCertificateFaults('certificatePem', () => {
    throw error;
  });

describe('the faults of a certificate', () => {
  it('are details of a 400, each a rule for the member', async () => {
    const country = 'country must be two upper-case letters (ISO 3166-1)';
    const refused = refuse(new CertificateFault(['must be signed by its own key', country]));
    await expect(refused).rejects.toBeInstanceOf(AppError);
    await expect(refused).rejects.toMatchObject({
      kind: 'invalid',
      details: [
        { param: 'certificatePem', location: 'body', msg: 'must be signed by its own key' },
        { param: 'certificatePem', location: 'body', msg: `must be correct: ${country}` },
      ],
    });
  });

  it('are distinguished from other errors, which are thrown as they are', async () => {
    const error = new TypeError('unexpected');
    await expect(refuse(error)).rejects.toBe(error);
    await expect(refuseCertificateFaults('crlPem', async () => 7)).resolves.toBe(7);
  });
});
