/** The lines that `init` adds to an application, written as the file writes its own. */

export interface LineStyle {
  module: 'import' | 'require'
  quote: "'" | '"'
  semicolons: boolean
  /** Whether the code that registers may await. */
  awaits: boolean
}

const PLUGINS = [
  {
    name: 'svcCore',
    from: '@svc/core',
    options: `encryption: { secretNames: ['ENCRYPTION_KEY'] }`,
  },
  { name: 'svcAuth', from: '@svc/auth', options: `bootstrapKeySecret: 'BOOTSTRAP_KEY'` },
  { name: 'svcWebhooks', from: '@svc/webhooks', options: `allowedEvents: ['order.created']` },
]

export const PLUGIN_PACKAGES = PLUGINS.map(({ from }) => from)

export const importLines = (style: LineStyle, packages = PLUGIN_PACKAGES): string[] =>
  PLUGINS.filter(({ from }) => packages.includes(from)).map(({ name, from }) =>
    written(
      style.module === 'import'
        ? `import { ${name} } from '${from}'`
        : `const { ${name} } = require('${from}')`,
      style,
    ),
  )

/** @param app the name of the Fastify instance */
export const registerLines = (
  app: string,
  style: LineStyle,
  packages = PLUGIN_PACKAGES,
): string[] =>
  PLUGINS.filter(({ from }) => packages.includes(from)).map(({ name, options }) =>
    written(`${style.awaits ? 'await ' : ''}${app}.register(${name}, { ${options} })`, style),
  )

const written = (line: string, { quote, semicolons }: LineStyle): string =>
  line.replaceAll("'", quote) + (semicolons ? ';' : '')
