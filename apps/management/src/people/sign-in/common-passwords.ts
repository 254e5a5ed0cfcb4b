let loading: Promise<ReadonlySet<string>> | undefined;

/** About 49,000 most frequent passwords, in lower case. Loaded when the first password is chosen. */
export const commonPasswords = (): Promise<ReadonlySet<string>> => {
  loading ??= import('@zxcvbn-ts/language-common').then(({ dictionary }) => {
    const list = dictionary['passwords-common'] as readonly string[];
    return new Set(list.map((word) => String(word).toLowerCase()));
  });
  return loading;
};
