/** `weight` of RFC 9110 §12.4.2. */
const WEIGHT = /^q=(0(?:\.\d{0,3})?|1(?:\.0{0,3})?)$/i;

export interface WeightedValue {
  /** In lower case. */
  value: string;
  /** 0 to 1; 0 also where it cannot be read. */
  weight: number;
}

/** Values of a header that are read; callers choose its length. */
const MAX_VALUES = 100;

/** Values of a header such as `Accept` with their weights; other parameters are left out. */
export const weightedList = (header: string): WeightedValue[] =>
  header.split(',', MAX_VALUES).map((part) => {
    const [value, ...parameters] = part.split(';').map((text) => text.trim().toLowerCase());
    const weight = parameters.find((parameter) => parameter.startsWith('q='));
    return { value: value!, weight: weight === undefined ? 1 : Number(WEIGHT.exec(weight)?.[1] ?? 0) };
  });
