/** A stream for a host's log, and what was written to it. */
export function logOf() {
  const lines: string[] = []
  return {
    write: (line: string) => void lines.push(line),
    text: () => lines.join(''),
    /** The lines with this message. */
    entries: (msg: string): Record<string, unknown>[] =>
      lines.map((line) => JSON.parse(line)).filter((entry) => entry.msg === msg),
  }
}
