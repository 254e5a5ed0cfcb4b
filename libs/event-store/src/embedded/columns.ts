/** Columns of an event, in the order rows have them. The jobs module repeats it: it can import no file. */
export const COLUMNS = 'position, stream, revision, id, type, schema_version, data, metadata';
