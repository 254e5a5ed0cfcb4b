/** @engines embedded */
import { OpenIdProvider, PLATFORM_START_MS, sharedPlatform } from '@attestry/testing';
import { describeIssuerModules } from './issuer-modules.js';
import { prepareIssuer, type IssuerUnderTest } from './issuer-under-test.js';

let provider: OpenIdProvider;
let issuer: IssuerUnderTest;
beforeAll(async () => {
  provider = await OpenIdProvider.start('https://management.example');
  issuer = await prepareIssuer(await sharedPlatform(), provider, 'conformance-default', 'default');
}, PLATFORM_START_MS);
afterAll(() => provider?.stop());

describeIssuerModules('default', () => issuer);
