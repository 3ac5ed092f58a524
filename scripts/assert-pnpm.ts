// Before a package is packed or published. `exports` and `bin` lead to the sources, and only pnpm puts those of
// `publishConfig` in their place. A npm below pnpm inherits its `npm_config_user_agent`, but each names its own
// program in `npm_execpath`.
import { basename } from 'node:path'

if (!basename(process.env['npm_execpath'] ?? '').startsWith('pnpm')) {
  console.error('pack and publish with pnpm: npm would take entry points that are TypeScript')
  process.exitCode = 1
}
