let loading: Promise<ReadonlySet<string>> | undefined;

/** About 49,000 passwords that people choose most often, in lower case. Loaded with the first password that somebody chooses. */
export const commonPasswords = (): Promise<ReadonlySet<string>> => {
  loading ??= import('@zxcvbn-ts/language-common').then(({ dictionary }) => {
    const list = dictionary['passwords-common'] as readonly string[];
    return new Set(list.map((word) => String(word).toLowerCase()));
  });
  return loading;
};
