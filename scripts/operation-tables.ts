/** Tables of routes and methods, from the operations. */
import type { TSchema } from '@sinclair/typebox'
import type {} from '@svc/auth'
import type { AnyOperation, OperationRoute } from '../packages/core/src/actions/define-operation.ts'
import { createOperations } from '../packages/auth/src/operations/operations.ts'
import { inboundOperations } from '../packages/webhooks/src/operations/inbound.ts'
import { outboundOperations } from '../packages/webhooks/src/operations/operations.ts'

/** In place of what operations run with: they are read here, and not run. */
const NOTHING: never = new Proxy(() => {}, { get: () => NOTHING }) as never

const { methods, ownKey, audit } = createOperations(NOTHING, NOTHING)

interface Table {
  title: string
  /** The path of the routes in the text. */
  base: string
  /** In the order of their rows. */
  operations: Readonly<Record<string, AnyOperation<never>>>
  /** Whether it is a method, and under which name. */
  methodOf: (operation: string) => string
}

const TABLES: Table[] = [
  {
    title: '@svc/auth',
    base: '/_auth',
    operations: { ...methods, ...ownKey, ...audit },
    methodOf: (name) => (name === 'listKeysOfUser' ? 'listApiKeys' : name in methods ? name : ''),
  },
  {
    title: '@svc/webhooks',
    base: '/_webhooks',
    operations: {
      ...outboundOperations(NOTHING, NOTHING, NOTHING),
      ...inboundOperations(NOTHING, [], NOTHING),
    },
    methodOf: (name) => name,
  },
]

/** Markdown: a table of each package, below its name. */
export const operationTables = (): string =>
  TABLES.map((table) => `## ${table.title}\n\n${tableOf(table)}`).join('\n')

const HEAD = ['route', 'method', 'takes', 'answer', 'what it does']

function tableOf({ base, operations, methodOf }: Table): string {
  const rows = Object.entries(operations).flatMap(([name, { input, output, routes = {} }]) =>
    Object.entries(routes).flatMap(([at, route]: [string, OperationRoute<never, never>]) => {
      if (route.hide) return []
      const [method = '', path = ''] = at.split(' ')
      const { status = 200, summary } = route
      const cells = [
        code(`${method} ${path === '/' ? base : base + path}`),
        code(methodOf(name)),
        code(takenBy(input, method, path, route)),
        `${status} ${code(shapeOf(output))}`.trim(),
        `${summary}${scopesOf(route)}`,
      ]
      return [cells]
    }),
  )
  const widths = HEAD.map((_, column) =>
    Math.max(...[HEAD, ...rows].map((row) => row[column]!.length)),
  )
  const line = (cells: string[]) =>
    `| ${cells.map((cell, column) => cell.padEnd(widths[column]!)).join(' | ')} |\n`
  return [line(HEAD), line(widths.map((width) => '-'.repeat(width))), ...rows.map(line)].join('')
}

const code = (text: string): string => (text === '' ? '' : `\`${text}\``)

/** The body, or the query without `limit` and `after`. */
function takenBy(
  input: TSchema,
  method: string,
  path: string,
  { names = {}, takes }: OperationRoute<never, never>,
): string {
  const inPath = [...path.matchAll(/:(\w+)/g)].map(([, name = '']) => names[name] ?? name)
  const left = Object.keys(takes ?? input['properties'] ?? {}).filter(
    (name) => !['limit', 'after', ...inPath].includes(name),
  )
  if (left.length === 0 || input.type === 'string') return ''
  if (method === 'GET') return `?${left.join('&')}`
  const required = new Set<string>(input['required'] ?? [])
  return `{ ${left.map((name) => (required.has(name) ? name : `${name}?`)).join(', ')} }`
}

/** Of a small answer. The others are described below the table. */
function shapeOf({ properties = {} }: TSchema): string {
  const names = Object.keys(properties)
  return names.length === 0 || names.length > 3 ? '' : `{ ${names.join(', ')} }`
}

/** Where other scopes open the route than those of the package. */
function scopesOf({ config }: OperationRoute<never, never>): string {
  if (config === undefined) return ''
  const { scopes = [] } = config as { scopes?: string[] }
  return scopes.length === 0 ? '; for any valid key' : `; for ${scopes.map(code).join(', ')}`
}
