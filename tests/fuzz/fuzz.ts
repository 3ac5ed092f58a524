/**
 * Random input for what reads a stranger's words. `SVC_FUZZ_RUNS` says how many inputs each property
 * gets. A run of many draws its inputs from the clock, unless `SVC_FUZZ_SEED` repeats another; a short
 * one is always the same. A failure prints the seed and the smallest input that fails.
 */
import { setImmediate } from 'node:timers/promises'
import fc from 'fast-check'
import type { Test } from 'tap'

const { SVC_FUZZ_RUNS, SVC_FUZZ_SEED } = process.env
const RUNS = Number(SVC_FUZZ_RUNS ?? 200)
const IS_LONG = SVC_FUZZ_RUNS !== undefined
const SEED = Number(SVC_FUZZ_SEED ?? (IS_LONG ? Date.now() % 2 ** 31 : 1))
/**
 * One input that holds the event loop for longer delays every other request of the process. A short
 * run is too noisy to be judged by it: its first inputs are read by code that is not compiled yet.
 */
const LONGEST_MS = IS_LONG ? 10 : Infinity

interface FuzzOptions {
  /** Part of the usual number of runs. @default 1 */
  share?: number
  /** `Infinity` where an input is a whole request, with its queries. @default 10 in a long run */
  longestMs?: number
}

/** Inputs that the properties of this file have had. */
let inputs = 0

/** Checks a property with many inputs. */
export async function fuzz<Input>(
  t: Test,
  input: fc.Arbitrary<Input>,
  check: (input: Input) => void | Promise<void>,
  { share = 1, longestMs = LONGEST_MS }: FuzzOptions = {},
): Promise<void> {
  const property = fc.asyncProperty(input, async (value) => {
    if ((await msOf(check, value)) < longestMs) return
    // Garbage collection or a busy machine may have held it up. A slow input is slow each time.
    let ms = Infinity
    for (let again = 0; again < 10 && ms > longestMs; again++) {
      await setImmediate()
      ms = Math.min(ms, await msOf(check, value))
    }
    if (ms > longestMs) throw new Error(`this input takes ${Math.round(ms)} ms`)
  })
  const numRuns = Math.max(1, Math.round(RUNS * share))
  const from = performance.now()
  await t.resolves(fc.assert(property, { numRuns, seed: SEED }), `${numRuns} inputs, seed ${SEED}`)
  inputs += numRuns
  const seconds = ((performance.now() - from) / 1000).toFixed(1)
  t.comment(`${numRuns} inputs in ${seconds} s; ${inputs} inputs of this file so far`)
}

/** The CPU time of this process: what others do on the machine counts little. */
async function msOf<Input>(check: (input: Input) => void | Promise<void>, input: Input) {
  const start = process.cpuUsage()
  await check(input)
  const { user, system } = process.cpuUsage(start)
  return (user + system) / 1000
}

/** Fails where `run` throws something else than the errors that it is documented to throw. */
export function throwsOnly(names: readonly string[], run: () => unknown): void {
  try {
    run()
  } catch (error) {
    const { name, code } = error as Error & { code?: string }
    if (!names.includes(name) && !names.includes(String(code))) throw error
  }
}

/** Text of the kinds that readers stumble over: any Unicode, single bytes, pieces of a grammar. */
export const textOf = (...pieces: string[]): fc.Arbitrary<string> =>
  fc.oneof(
    fc.string({ unit: 'binary', maxLength: 200 }),
    fc.string({ unit: 'grapheme-ascii', maxLength: 200 }),
    fc
      .array(fc.oneof(fc.constantFrom(...pieces), fc.string({ maxLength: 5 })), { maxLength: 40 })
      .map((parts) => parts.join('')),
    fc
      .tuple(fc.constantFrom(...pieces), fc.integer({ min: 1, max: 20_000 }))
      .map(([piece, times]) => piece.repeat(Math.ceil(times / Math.max(1, piece.length)))),
  )

/** A genuine text with one place of it changed, doubled or removed. Never the text itself. */
export const spoilt = (text: string): fc.Arbitrary<string> =>
  fc
    .tuple(
      fc.nat(Math.max(0, text.length - 1)),
      fc.oneof(fc.string({ unit: 'binary-ascii', maxLength: 3 }), fc.constantFrom('', '\0', ' ')),
      fc.nat(3),
    )
    .map(([at, piece, length]) => text.slice(0, at) + piece + text.slice(at + length))
    .filter((one) => one !== text)

export const words = (text: string): string[] => text.split(' ')

/** A busy machine may let a request wait too long for Postgres: a 503 is asked once more. */
export async function patiently<Answer extends { status?: number; statusCode?: number }>(
  ask: () => Promise<Answer>,
): Promise<Answer> {
  const answer = await ask()
  return (answer.status ?? answer.statusCode) === 503 ? ask() : answer
}
