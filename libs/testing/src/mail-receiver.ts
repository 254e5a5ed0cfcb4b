import PostalMime, { type Email } from 'postal-mime';
import type { SMTPServer as SmtpServerClass } from 'smtp-server';
import { waitUntil } from './wait-until.js';

/** A real SMTP server on a free port of this machine, with what it was given. */
export class MailReceiver {
  readonly mails: (Email & { recipients: string[] })[] = [];
  /** Reply to recipients from now on; 250 accepts them. */
  answer = 250;
  /** Reply to individual recipients instead. */
  readonly answers = new Map<string, number>();
  /** Reply to senders from now on. */
  senderAnswer = 250;
  /** How many it did not take. */
  refused = 0;

  private constructor(
    private readonly server: SmtpServerClass,
    readonly url: string,
  ) {}

  static async start(): Promise<MailReceiver> {
    const { SMTPServer } = await import('smtp-server');
    const server: SmtpServerClass = new SMTPServer({
      disabledCommands: ['STARTTLS', 'AUTH'],
      onMailFrom: (_address, _session, callback) => {
        const { senderAnswer } = receiver;
        if (senderAnswer === 250) callback();
        else {
          receiver.refused++;
          callback(Object.assign(new Error('refused'), { responseCode: senderAnswer }));
        }
      },
      onRcptTo: ({ address }, _session, callback) => {
        const answer = receiver.answers.get(address) ?? receiver.answer;
        if (answer === 250) callback();
        else {
          receiver.refused++;
          callback(Object.assign(new Error('refused'), { responseCode: answer }));
        }
      },
      onData: (stream, session, callback) => {
        const chunks: Buffer[] = [];
        stream.on('data', (chunk: Buffer) => chunks.push(chunk));
        stream.on('end', () => {
          const recipients = session.envelope.rcptTo.map(({ address }) => address);
          void PostalMime.parse(Buffer.concat(chunks)).then((mail) => {
            receiver.mails.push({ ...mail, recipients });
            callback();
          });
        });
      },
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.server.address() as { port: number };
    const receiver: MailReceiver = new MailReceiver(server, `smtp://127.0.0.1:${port}`);
    return receiver;
  }

  to(address: string): (Email & { recipients: string[] })[] {
    return this.mails.filter(({ recipients }) => recipients.includes(address));
  }

  /** The link in the newest e-mail to an address; waits for the first one. */
  async linkTo(address: string): Promise<URL> {
    const mail = await waitUntil(() => this.to(address).at(-1), { what: `an e-mail to ${address}` });
    const link = /^http\S+$/m.exec(mail.text ?? '')?.[0];
    if (!link) throw new Error(`no link in the e-mail to ${address}`);
    return new URL(link);
  }

  async stop(): Promise<void> {
    await new Promise<void>((resolve) => this.server.close(() => resolve()));
  }
}
