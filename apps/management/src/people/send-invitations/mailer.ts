import { mkdir, open, rename } from 'node:fs/promises';
import { join } from 'node:path';
import { Inject, Injectable, type OnApplicationShutdown } from '@nestjs/common';
import { createTransport } from 'nodemailer';
import { LOGGER, PlatformConfig, type Logger } from '@attestry/service-kit';
import type { Mail } from './invitation-mail.js';

/** A server that does not respond must not block all e-mail, milliseconds. */
const TIMEOUT_MS = 20_000;

/** Commands whose refusal concerns this e-mail. A refused sign-in or sender concerns the configuration, and has to be corrected there. */
const OF_THE_MAIL: ReadonlySet<string> = new Set(['RCPT TO', 'DATA']);

/** The server refuses this e-mail permanently (RFC 5321 §4.2.1: 5yz); a retry would be refused too. */
export class MailRefused extends Error {
  override readonly name = 'MailRefused';
}

/** The server defers this e-mail (RFC 5321 §4.2.1: 4yz); others may be sent. */
export class MailDeferred extends Error {
  override readonly name = 'MailDeferred';
}

/** The server closes the connection (RFC 5321 §3.8), so it concerns every e-mail. */
const CLOSING = 421;

/** Sends e-mail through the server of `SMTP_URL`; without one, writes it to the data folder and logs the path. */
@Injectable()
export class Mailer implements OnApplicationShutdown {
  private readonly transport;

  constructor(
    private readonly config: PlatformConfig,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {
    const { smtpUrl } = config;
    // Content of an e-mail is never read from a file or a URL.
    const closed = { disableFileAccess: true, disableUrlAccess: true };
    this.transport =
      smtpUrl === undefined
        ? createTransport({ streamTransport: true, buffer: true, newline: 'windows', ...closed })
        : createTransport({
            url: smtpUrl,
            connectionTimeout: TIMEOUT_MS,
            greetingTimeout: TIMEOUT_MS,
            socketTimeout: TIMEOUT_MS,
            ...closed,
          });
  }

  /**
   * @param id of the message, the same for every retry, so that a mailbox can recognize duplicates
   * @throws MailRefused; MailDeferred; Error when no e-mail can be sent at the moment
   */
  async send(id: string, mail: Mail): Promise<void> {
    const { smtpUrl, dataDir } = this.config;
    const messageId = `<${id}@${this.host}>`;
    try {
      const sent = await this.transport.sendMail({ ...mail, from: this.from, messageId });
      if (smtpUrl === undefined)
        await this.writeToFolder(join(dataDir, 'mail'), `${id}.eml`, (sent as { message: Buffer }).message);
    } catch (error) {
      // The server's text may contain the recipient, so only its code is returned.
      const { responseCode, code, command = '' } = error as { responseCode?: number; code?: string; command?: string };
      const reason = `the mail server returned ${responseCode ?? code ?? 'no status'}`;
      const isRefused = responseCode !== undefined && responseCode >= 500 && OF_THE_MAIL.has(command);
      // Refused before it was sent: an address that no server accepts.
      if (isRefused || (code === 'EENVELOPE' && responseCode === undefined)) throw new MailRefused(reason);
      const isOfTheMail = responseCode !== undefined && responseCode !== CLOSING && OF_THE_MAIL.has(command);
      throw isOfTheMail ? new MailDeferred(reason) : new Error(reason, { cause: error });
    }
  }

  onApplicationShutdown(): void {
    this.transport.close();
  }

  private get host(): string {
    return this.config.managementDomain.replace(/:\d+$/, '');
  }

  private get from(): string {
    return this.config.mailFrom ?? `attestry@${this.host}`;
  }

  /** Readable only for the owner of the folder: it contains a link. */
  private async writeToFolder(folder: string, name: string, message: Buffer): Promise<void> {
    await mkdir(folder, { recursive: true, mode: 0o700 });
    const path = join(folder, name);
    const file = await open(`${path}.tmp`, 'w', 0o600);
    try {
      await file.writeFile(message);
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(`${path}.tmp`, path);
    this.logger.info({ path }, 'e-mail written to a file, SMTP_URL is not set');
  }
}
