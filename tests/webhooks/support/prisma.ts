/** A client of prisma, generated for the table `orders` when it is asked for. */
import { execFile } from 'node:child_process'
import { writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import { PrismaPg } from '@prisma/adapter-pg'
import type { PrismaTransaction } from '@svc/core/adapters'
import type { Test } from 'tap'

const SCHEMA = `
generator client {
  provider            = "prisma-client"
  output              = "./client"
  importFileExtension = "ts"
}
datasource db {
  provider = "postgresql"
}
model Order {
  id Int @id
  @@map("orders")
}`

/** What the generator makes of SCHEMA, as far as it is used here. */
interface Prisma {
  $transaction<Result>(run: (tx: Transaction) => Promise<Result>): Promise<Result>
  $disconnect(): Promise<void>
}

interface Transaction extends PrismaTransaction {
  order: { create(order: { data: { id: number } }): Promise<unknown> }
}

export async function openPrisma(t: Test, database: string): Promise<Prisma> {
  // What is generated imports @prisma/client.
  const installed = join(import.meta.dirname, '../../node_modules')
  const folder = t.testdir({ node_modules: t.fixture('symlink', installed) })
  await writeFile(join(folder, 'schema.prisma'), SCHEMA)
  await promisify(execFile)(process.execPath, [prismaCommand(), 'generate'], {
    cwd: folder,
    env: {
      ...process.env,
      // It would download its engine of migrations, which is not needed to generate. It only has to exist.
      PRISMA_SCHEMA_ENGINE_BINARY: process.execPath,
      CHECKPOINT_DISABLE: '1',
    },
  })
  const { href } = pathToFileURL(join(folder, 'client/client.ts'))
  const { PrismaClient } = (await import(href)) as {
    PrismaClient: new (options: object) => Prisma
  }
  const prisma = new PrismaClient({
    adapter: new PrismaPg({ connectionString: database }),
    // The default of 2 and 5 seconds is too short for a busy machine.
    transactionOptions: { maxWait: 60_000, timeout: 60_000 },
  })
  t.teardown(() => prisma.$disconnect())
  return prisma
}

function prismaCommand(): string {
  const { resolve } = createRequire(import.meta.url)
  return resolve('prisma/build/index.js')
}
