/** One sentence that says what to do, instead of a stack trace. */
export function explain(error: unknown): string {
  const { code, message, port } = error as NodeJS.ErrnoException & { port?: number }
  switch (code) {
    case 'EADDRINUSE':
      return `The port ${port} is taken: free it, or set PORT to another (without PORT any free one is used).`
    case 'ERR_PARSE_ARGS_UNKNOWN_OPTION':
    case 'ERR_PARSE_ARGS_UNEXPECTED_POSITIONAL':
    case 'ERR_PARSE_ARGS_INVALID_OPTION_VALUE':
      return `${message.split('. ')[0]}: the demo knows one option, --stay.`
    default:
      return message || String(error)
  }
}
