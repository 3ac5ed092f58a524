// Before a publish of a package. `exports` and `bin` lead to the sources, and only pnpm puts those of
// `publishConfig` in their place.
if (!process.env['npm_config_user_agent']?.startsWith('pnpm/')) {
  console.error('publish with pnpm: npm would publish entry points that are TypeScript')
  process.exitCode = 1
}
