import {
  InvalidDelivery,
  InvalidVerification,
  type InvalidDeliveryCode,
} from '../../../packages/receiver/src/invalid-delivery.ts'
import { commentOf, sourceOf, table } from './declarations.ts'

const FILES = [
  ['@svc/core', ['packages/core/src/errors.ts']],
  ['@svc/auth', ['packages/auth/src/errors.ts']],
  ['@svc/webhooks', ['packages/webhooks/src/errors.ts', 'packages/webhooks/src/inbound/errors.ts']],
  ['@svc/console', ['packages/console/src/errors.ts']],
  ['@svc/nest', ['packages/nest/src/errors.ts']],
] as const

const ERROR =
  /\/\*\*((?:(?!\*\/)[^])*)\*\/\nexport const (\w+) = createError(?:<[^(]*>)?\(\s*'(\w+)',\s*('(?:[^'\\]|\\.)*'|"[^"]*"|`[^`]*`),\s*(\d+)/g

export interface DocumentedError {
  name: string
  code: string
  status: number
  when: string
  message: string
}

export const errorsOf = (file: string): DocumentedError[] =>
  [...sourceOf(file).matchAll(ERROR)].map(
    ([, comment, name = '', code = '', text = '', status]) => ({
      name,
      code,
      status: Number(status),
      when: commentOf(comment).text,
      message: text
        .slice(1, -1)
        .replaceAll(String.raw`\'`, "'")
        .replaceAll('%s', '…'),
    }),
  )

/** The errors of each package; a code that two packages have stands with the first. */
export function packages(): [title: string, errors: DocumentedError[]][] {
  const known = new Set<string>()
  const ofPlugins = FILES.map(([title, files]): [string, DocumentedError[]] => [
    title,
    files.flatMap(errorsOf).filter(({ code }) => !known.has(code) && known.add(code)),
  ])
  return [...ofPlugins, ['@svc/receiver', errorsOfReceiver()]]
}

/** Those of `verifyDelivery`: one class has several codes. */
function errorsOfReceiver(): DocumentedError[] {
  const source = sourceOf('packages/receiver/src/invalid-delivery.ts')
  const codes = [...source.matchAll(/\/\*\* (.*) \*\/\n {2}\| '(\w+)'/g)].map(
    ([, when = '', code]) => ({
      when,
      error: new InvalidDelivery(code as InvalidDeliveryCode, ''),
    }),
  )
  const [, when = ''] = /\/\*\* (.*) \*\/\nexport class InvalidVerification/.exec(source) ?? []
  return [...codes, { when, error: new InvalidVerification() }].map(({ when, error }) => ({
    name: error.name,
    code: error.code,
    status: error.statusCode,
    when,
    message: '',
  }))
}

export function errorsPage(): string {
  const parts = packages().map(
    ([title, errors]) => `## ${title}\n\n${errors.map(partOf).join('\n')}`,
  )
  return `# Errors

Each error has a \`code\` and a \`statusCode\`, and its package exports its class under the name that stands here. Compare codes, not messages: a code stays, a message may get clearer. The property \`docs\` is the address of its part of this page: Node prints it with an error that ends the process, loggers log it, and \`svc\` shows it. No HTTP answer has it. The body of an HTTP answer is \`{ statusCode, code, error, message }\`, unless the option \`errorBody\` shapes it.

${table(
  ['code', 'status', 'package'],
  packages().flatMap(([title, errors]) =>
    errors.map(({ code, status }) => [`[\`${code}\`](#${anchorOf(code)})`, String(status), title]),
  ),
)}
${parts.join('\n')}`
}

/** What VitePress would make of the heading, set so that it stays. */
export const anchorOf = (code: string): string => code.toLowerCase().replaceAll('_', '-')

const partOf = ({ name, code, status, when, message }: DocumentedError): string =>
  `### \`${code}\` {#${anchorOf(code)}}

${status}, \`${name}\`. ${when}
${message.replaceAll('…', '').trim() === '' ? '' : `\n> ${message.replaceAll('<', '&lt;')}\n`}`
