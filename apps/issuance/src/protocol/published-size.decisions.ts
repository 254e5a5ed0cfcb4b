import { conflict } from '@attestry/contracts';

export const MOST_CONFIGURATIONS = 1000;
/** Characters of JSON. The document is made and sent in one piece, on the thread that serves all tenants, and NATS carries at most 8 MB. */
export const MOST_CHARACTERS = 2 * 1024 * 1024;

/** What the issuer metadata publish of credential configurations. */
export interface PublishedSize {
  configurations: number;
  /** Of the JSON of `credential_configurations_supported` and `credentials_supported`. */
  characters: number;
}

/**
 * @param others without the configuration that is created or replaced
 * @param replaced characters of the former content, which a smaller one may always replace
 * @throws AppError 409
 */
export const checkPublishedSize = (others: PublishedSize, characters: number, replaced?: number): void => {
  if (replaced === undefined && others.configurations >= MOST_CONFIGURATIONS)
    throw conflict(`A tenant can have at most ${MOST_CONFIGURATIONS} credential configurations`);
  const total = others.characters + characters;
  if (total <= MOST_CHARACTERS || (replaced !== undefined && characters <= replaced)) return;
  throw conflict(
    `The issuer metadata of all credential configurations would have ${total} characters, and at most ${MOST_CHARACTERS} are allowed: use smaller images or fewer entries of display`,
  );
};
