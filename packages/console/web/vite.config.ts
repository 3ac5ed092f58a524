import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vite'

const here = (path: string) => fileURLToPath(new URL(path, import.meta.url))

export default defineConfig({
  root: here('.'),
  // Relative to the <base> that the server writes: the console may stand at any path of a host.
  base: './',
  oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
  build: {
    outDir: here('../web-dist'),
    emptyOutDir: true,
    target: 'es2022',
    // A `data:` URL would need a word of its own in the content security policy.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    // With "licen[sc]e" in its name, pnpm would take it for that of the package, and pack no LICENSE.
    license: { fileName: 'third-party.md' },
  },
})
