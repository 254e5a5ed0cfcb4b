import { conflict } from '@attestry/contracts';

export const MOST_CONFIGURATIONS = 1000;
/**
 * Limit of JSON in UTF-8. The document is made and sent in one piece, on the thread that serves all tenants, and NATS carries at most 8 MB.
 */
export const MOST_BYTES = 2 * 1024 * 1024;

/** Size of the credential configurations in the issuer metadata. */
export interface PublishedSize {
  configurations: number;
  /** Size of the JSON of `credential_configurations_supported` and `credentials_supported`. */
  bytes: number;
}

/**
 * @param others without the configuration that is created or replaced
 * @param bytes of the configuration
 * @param replaced bytes of the former content, which a smaller one may always replace
 * @throws AppError 409
 */
export const checkPublishedSize = (others: PublishedSize, bytes: number, replaced?: number): void => {
  if (replaced === undefined && others.configurations >= MOST_CONFIGURATIONS)
    throw conflict(`A tenant can have at most ${MOST_CONFIGURATIONS} credential configurations`);
  const total = others.bytes + bytes;
  if (total <= MOST_BYTES || (replaced !== undefined && bytes <= replaced)) return;
  throw conflict(
    `The issuer metadata of all credential configurations would have ${total} bytes, and at most ${MOST_BYTES} are allowed: use smaller images or fewer entries of display`,
  );
};
