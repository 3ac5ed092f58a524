/** An `import` of node:http reads all of its exports, and some of them load Node's fetch: 3 MB of memory. */
const { STATUS_CODES } = process.getBuiltinModule('node:http')

/** The reason phrase of a status (RFC 9110, section 15), such as `Not Found`; of an unknown one `Error`. */
export const statusText = (statusCode: number): string => STATUS_CODES[statusCode] ?? 'Error'
