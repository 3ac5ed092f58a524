/** The token of a session or a portal link: 32 random bytes, stored as their hash. */
import { createHash, randomBytes } from 'node:crypto'

const TOKEN = /^[A-Za-z0-9_-]{43}$/

export const newToken = (): string => randomBytes(32).toString('base64url')

export const isToken = (text: string): boolean => TOKEN.test(text)

export const hashOfToken = (token: string): Buffer => createHash('sha256').update(token).digest()
