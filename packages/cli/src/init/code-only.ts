/** The code of a JavaScript or TypeScript file, without its comments and texts. */

/** Comments, and texts in quotes. One in backticks ends at the next backtick, also within `${…}`. */
const NO_CODE =
  /\/\/[^\n]*|\/\*[^]*?\*\/|'(?:\\.|[^'\\\n])*'|"(?:\\.|[^"\\\n])*"|`(?:\\[^]|[^`\\])*`/g

/** Each character keeps its place: spaces stand for comments and for what is between quotes. */
export const codeOnly = (source: string): string =>
  source.replaceAll(NO_CODE, (found) => {
    const isComment = found.startsWith('/')
    const blank = (text: string) => text.replaceAll(/[^\r\n]/g, ' ')
    return isComment ? blank(found) : found.at(0)! + blank(found.slice(1, -1)) + found.at(-1)!
  })
