import { templateOf, type HttpBinding, type Json, type OpenApiDocument, type Operation } from '@attestry/contracts';

type Content = Record<string, { example?: unknown } | undefined>;
const contentOf = (response: unknown): Content => (response as { content?: Content } | undefined)?.content ?? {};

export const responseTypeOf = ({ stream, mediaType = 'application/json' }: HttpBinding): string =>
  stream ? 'application/x-ndjson' : mediaType;

const successContentIn = (document: OpenApiDocument, { http }: Operation): Content => {
  const described = document.paths[templateOf(http!.path)]?.[http!.method.toLowerCase()];
  return contentOf((described?.['responses'] as Record<string, Json> | undefined)?.[http!.success]);
};

const first = (examples: unknown[]): unknown => examples.find((example) => example !== undefined);

/** The recorded body of a call that succeeds. */
export const responseExampleIn = (documents: readonly OpenApiDocument[], operation: Operation): unknown =>
  first(documents.map((document) => successContentIn(document, operation)[responseTypeOf(operation.http!)]?.example));

/** Replaces it, unless the document does not describe the operation. */
export const setResponseExample = (document: OpenApiDocument, operation: Operation, example: unknown): void => {
  const content = successContentIn(document, operation)[responseTypeOf(operation.http!)];
  if (content) content.example = example;
};

/** The recorded body of an error, by the name of its response. */
export const errorExampleIn = (documents: readonly OpenApiDocument[], name: string): unknown =>
  first(documents.map(({ components }) => contentOf(components.responses[name])['application/json']?.example));

/** Replaces it, unless the document has no such response. */
export const setErrorExample = (document: OpenApiDocument, name: string, example: unknown): void => {
  const content = contentOf(document.components.responses[name])['application/json'];
  if (content) content.example = example;
};
