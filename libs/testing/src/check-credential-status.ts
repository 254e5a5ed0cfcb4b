import type { CheckStatus, VerifyCredentialResult } from '@digitalbazaar/vc';
import { checkStatus as checkBitstring } from '@digitalbazaar/vc-bitstring-status-list';
import { checkStatus as checkRevocationList } from '@digitalbazaar/vc-revocation-list';

const TERMS = 'https://w3id.org/vc-revocation-list-2020#';
const typed = (members: object) => ({ '@protected': true, id: '@id', type: '@type', ...members });
const term = (name: string, members: object) => ({ [name]: { '@id': TERMS + name, '@context': typed(members) } });

/** Context of RevocationList2020; a verifier has its own copy. */
export const REVOCATION_LIST_CONTEXT = {
  url: 'https://w3id.org/vc-revocation-list-2020/v1',
  document: {
    '@context': {
      '@protected': true,
      ...term('RevocationList2020Credential', {
        description: 'http://schema.org/description',
        name: 'http://schema.org/name',
      }),
      ...term('RevocationList2020', { encodedList: `${TERMS}encodedList` }),
      ...term('RevocationList2020Status', {
        revocationListCredential: { '@id': `${TERMS}revocationListCredential`, '@type': '@id' },
        revocationListIndex: `${TERMS}revocationListIndex`,
      }),
    },
  },
};

/** `credentialStatus` in a freshly loaded list, whose proof and issuer are verified too, with the libraries of Digital Bazaar. */
export const checkStatus: CheckStatus = async (options) => {
  const { type } = options.credential['credentialStatus'] as { type: string };
  if (type === 'RevocationList2020Status') return checkRevocationList(options);
  const checked = await checkBitstring(options);
  // This library returns the bit and leaves the verdict to its caller.
  return { ...checked, verified: checked.verified && checked.results.every(({ status }) => !status) };
};

/** @throws Error `Status is not valid`, or saying why the list could not be checked */
export const refuseStatus = ({ statusResult }: VerifyCredentialResult): void => {
  if (statusResult && !statusResult.verified) throw statusResult.error ?? new Error('Status is not valid');
};
