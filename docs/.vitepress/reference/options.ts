import { code, interfacesIn, sourceOf, sources, table, type Interface } from './declarations.ts'

const PLUGINS = [
  { title: 'svcCore', package: 'core', name: 'SvcCoreOptions' },
  { title: 'svcAuth', package: 'auth', name: 'SvcAuthOptions' },
  { title: 'svcWebhooks', package: 'webhooks', name: 'SvcWebhooksOptions' },
  { title: 'svcConsole', package: 'console', name: 'SvcConsoleOptions' },
]

/** Options of options are named so. */
const NESTED = /\b\w+(?:Options|Config|Limit|Quota|Plan|PlanOfTenant)\b/g

export function optionsPage(): string {
  const parts = PLUGINS.map((plugin) => {
    const all = new Map(
      sources(`packages/${plugin.package}/src/**/*.ts`).flatMap((file) => [
        ...interfacesIn(sourceOf(file)),
      ]),
    )
    return [
      `## ${plugin.title}\n\n\`app.register(${plugin.title}, options)\`, from \`@svc/${plugin.package}\`.\n\n`,
      ...withNested(plugin.name, all).map(([name, found]) =>
        name === plugin.name ? rowsOf(found) : `### ${name}\n\n${found.text}\n\n${rowsOf(found)}`,
      ),
    ].join('\n')
  })
  return `# Options

Each plugin checks its options at boot. A wrong option is an error: it names the option, the value and what would be right.

${parts.join('\n')}`
}

/** The interface, and those that its members name, each once. */
function withNested(first: string, all: Map<string, Interface>): [string, Interface][] {
  const found = new Map<string, Interface>()
  const add = (name: string): void => {
    const one = all.get(name)
    if (one === undefined || found.has(name)) return
    found.set(name, one)
    for (const { type } of one.members) for (const [nested] of type.matchAll(NESTED)) add(nested)
  }
  add(first)
  return [...found]
}

const rowsOf = ({ members }: Interface): string =>
  table(
    ['option', 'type', 'default', 'meaning'],
    members.map((one) => [
      code(one.name),
      code(one.type),
      one.default ?? (one.isOptional ? '' : 'required'),
      one.text,
    ]),
  )
