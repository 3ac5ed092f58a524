/**
 * A browser: the Chromium that is packed in @sparticuz/chromium where it runs (Linux, x64), else the
 * Chrome that is installed.
 */
import { existsSync, mkdtempSync, renameSync, rmSync } from 'node:fs'
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { chromium, type Browser } from 'playwright-core'

/** Unpacked it is 200 MB, which takes seconds: once is enough for all runs. */
const CACHE = join(import.meta.dirname, '../../../../node_modules/.cache/svc-chromium')
const OPTIONS = {
  args: ['--no-sandbox', '--disable-gpu', '--font-render-hinting=none'],
  timeout: 120_000,
}

/** `undefined` where there is no browser. */
export async function openBrowser(): Promise<Browser | undefined> {
  if (process.platform === 'linux' && process.arch === 'x64') {
    return await chromium.launch({ executablePath: await unpacked(), ...OPTIONS })
  }
  return await chromium.launch({ channel: 'chrome', ...OPTIONS }).catch(() => undefined)
}

async function unpacked(): Promise<string> {
  const executable = join(CACHE, 'chromium')
  if (existsSync(executable)) return executable
  await mkdir(join(CACHE, '..'), { recursive: true })
  const folder = mkdtempSync(`${CACHE}-`)
  const { TMPDIR } = process.env
  process.env['TMPDIR'] = folder // it unpacks there, and nowhere else
  try {
    const { default: packed } = await import('@sparticuz/chromium')
    packed.setGraphicsMode = false
    await packed.executablePath()
    renameSync(folder, CACHE)
  } catch (error) {
    rmSync(folder, { recursive: true, force: true })
    // Another test file was quicker.
    if (!existsSync(executable)) throw error
  } finally {
    if (TMPDIR === undefined) delete process.env['TMPDIR']
    else process.env['TMPDIR'] = TMPDIR
  }
  return executable
}
