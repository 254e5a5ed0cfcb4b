// An OpenID provider in a separate process, see startProviderProcess. It prints its issuer as a line of JSON.
import { OpenIdProvider } from './openid-provider.js';
import type { ProviderProgramOptions } from './provider-process.js';

const { accounts, options } = JSON.parse(process.argv[2]!) as ProviderProgramOptions;
const provider = await OpenIdProvider.start('https://management.example', undefined, options);
for (const account of accounts) provider.accounts.set(account.sub, account);
process.stdout.write(`${JSON.stringify({ issuer: provider.issuer })}\n`);
process.once('SIGTERM', () => void provider.stop().then(() => process.exit(0)));
