/** What each verb is given, and how it ends. */
import { styleText } from 'node:util'
import type { FastifyBaseLogger } from 'fastify'
import type { Command } from 'commander'
import { passwordFrom } from './password-command.ts'

export type ExitCode = 0 | 1 | 2 | 3
export const DONE = 0 as const
/** Something is to be done, or could not be done. */
export const TO_DO = 1 as const
export const WRONG_USAGE = 2 as const
export const UNREACHABLE = 3 as const

export interface Surroundings {
  env: NodeJS.ProcessEnv
  /** Where the command was run. */
  folder: string
  /** Aborts at Ctrl-C. */
  signal: AbortSignal
  stdout: NodeJS.WriteStream
  stderr: NodeJS.WriteStream
}

/** Adds a verb to the command. */
export type AddVerb = (program: Command, context: Context) => void

/** The arguments are wrong, or a variable of the environment is. */
export class WrongUsage extends Error {}

/** What is asked over the network does not answer, or does not let this caller in. */
export class Unreachable extends Error {}

type Style = Parameters<typeof styleText>[0]

export class Context {
  readonly env: NodeJS.ProcessEnv
  readonly folder: string
  readonly signal: AbortSignal
  exitCode: ExitCode = DONE
  #stdout: NodeJS.WriteStream
  #stderr: NodeJS.WriteStream

  constructor({ env, folder, signal, stdout, stderr }: Surroundings) {
    this.env = env
    this.folder = folder
    this.signal = signal
    this.#stdout = stdout
    this.#stderr = stderr
  }

  /** The action of a verb. */
  runs<Args extends unknown[]>(
    verb: (...args: Args) => ExitCode | Promise<ExitCode>,
  ): (...args: Args) => Promise<void> {
    return async (...args) => {
      this.exitCode = await verb(...args)
    }
  }

  /** A line of facts, which a program may read. */
  out(line: string): void {
    this.#stdout.write(`${line}\n`)
  }

  /** The facts of `--json`. */
  json(facts: unknown): void {
    this.out(JSON.stringify(facts, null, 2))
  }

  /** A line about the work, for people. */
  err(line: string): void {
    this.#stderr.write(`${line}\n`)
  }

  get isTerminal(): boolean {
    return this.#stdout.isTTY === true
  }

  /** Colours of {@link out}: none in a pipe, or with NO_COLOR. */
  style(style: Style, text: string): string {
    return styleText(style, text, { stream: this.#stdout })
  }

  /** The same of {@link err}. */
  styleErr(style: Style, text: string): string {
    return styleText(style, text, { stream: this.#stderr })
  }

  /** @throws WrongUsage */
  get database(): { connectionString: string; password?: () => Promise<string> } {
    const { DATABASE_URL: connectionString, SVC_PASSWORD_COMMAND: command } = this.env
    if (!connectionString) {
      throw new WrongUsage(
        'DATABASE_URL is not set: set it to the connection string of the database, postgres://user:password@host:5432/name, or run "node --env-file=.env node_modules/.bin/svc …" where .env has it',
      )
    }
    if (!command) return { connectionString }
    const password = passwordFrom(command)
    if (password) return { connectionString, password }
    throw new WrongUsage(
      'SVC_PASSWORD_COMMAND must be a program and its arguments, and each quote in it must end',
    )
  }

  /** Writes what an operator should know to stderr. */
  get log(): FastifyBaseLogger {
    const say = (details: LogDetails, message: string) => {
      const about = details.owner ?? details.migration?.name
      const text = details.err ? `${message}: ${details.err.message}` : message
      this.err(this.styleErr('dim', about === undefined ? text : `${text}: ${about}`))
      for (const statement of details.statements ?? []) this.err(statement)
    }
    const nothing = () => {}
    const log = { level: 'info', info: say, warn: say, error: say, fatal: say, debug: nothing }
    return {
      ...log,
      trace: nothing,
      silent: nothing,
      child: () => this.log,
    } as unknown as FastifyBaseLogger
  }
}

interface LogDetails {
  err?: Error
  owner?: string
  migration?: { name: string }
  statements?: string[]
}
