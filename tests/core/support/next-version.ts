/** A later version, made up: a package that brings migrations of its own. */
import { pathToFileURL } from 'node:url'
import { bootOnCore } from '@svc/core/internal'
import type { FastifyInstance } from 'fastify'
import fp from 'fastify-plugin'
import type { Test } from 'tap'

export const NEXT = '003-next.sql'

/** What registers it: its only migration is `text`, in a file `name`. */
export function nextVersion(t: Test, text: string, name = NEXT) {
  const folder = pathToFileURL(`${t.testdir({ [name]: text })}/`)
  const plugin = (app: FastifyInstance) =>
    bootOnCore(
      app,
      '@svc/next',
      (core) => core.migrate('@svc/next', folder),
      () => {},
    )
  return async (app: FastifyInstance) => {
    await app.register(fp(async (next) => plugin(next)))
  }
}
