import { MailReceiver, OpenIdProvider, TestDnsServer } from '@attestry/testing';

/** Audience of access tokens of users. */
export const AUDIENCE = 'https://management.example';
/** Where links in e-mails lead. */
export const INVITATION_URL = 'https://portal.example/join';

/** Where people sign in, where their e-mails arrive and where domains are looked up, with the settings of a platform among them. */
export interface Surroundings {
  provider: OpenIdProvider;
  mail: MailReceiver;
  dns: TestDnsServer;
  env: Record<string, string>;
}

let started: Promise<Surroundings> | undefined;
let users = 0;

/** The same ones for all of a Jest file. */
export const openSurroundings = (): Promise<Surroundings> => {
  users += 1;
  return (started ??= start());
};

/** The last one stops them; its platform has ended. */
export const closeSurroundings = async (): Promise<void> => {
  if (--users > 0) return;
  const { provider, mail, dns } = (await started)!;
  started = undefined;
  await mail.stop();
  await provider.stop();
  await dns.stop();
};

const start = async (): Promise<Surroundings> => {
  const provider = await OpenIdProvider.start(AUDIENCE);
  const mail = await MailReceiver.start();
  const dns = await TestDnsServer.start();
  const env = {
    MANAGEMENT_OIDC_ISSUER: provider.issuer,
    MANAGEMENT_OIDC_AUDIENCE: AUDIENCE,
    SMTP_URL: mail.url,
    INVITATION_URL,
    DNS_SERVERS: dns.address,
  };
  return { provider, mail, dns, env };
};
