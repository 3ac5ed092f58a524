/** The operations under their names, for callers in this process, who are trusted with all of them. */
import { Type } from '@sinclair/typebox'
import type { Svc } from '@svc/core'
import { defineAction } from '@svc/core/internal'
import {
  NewApiKey,
  NewUser,
  type ApiKey,
  type CreatedApiKey,
  type User,
  type Validation,
} from '../schemas.ts'
import type { Operations } from './operations.ts'

declare module '@svc/core' {
  interface SvcActions {
    /** @throws InvalidInput, EmailTaken */
    '__svc.auth.createUser': (user: NewUser) => Promise<User>
    /** All users, newest first. */
    '__svc.auth.listUsers': () => Promise<User[]>
    /** @throws UserNotFound */
    '__svc.auth.getUser': (id: string) => Promise<User>
    /** Revokes its keys as well. @throws UserNotFound */
    '__svc.auth.deleteUser': (id: string) => Promise<void>
    /** @throws InvalidInput, UserNotFound, UnknownScope, ExpiryInPast */
    '__svc.auth.createApiKey': (key: NewApiKey) => Promise<CreatedApiKey>
    /** All keys of a user, newest first. @throws UserNotFound */
    '__svc.auth.listApiKeys': (userId: string) => Promise<ApiKey[]>
    /** @throws KeyNotFound */
    '__svc.auth.revokeApiKey': (keyId: string) => Promise<void>
    /** Does not reject for a bad key, and counts no failure. @throws Unavailable */
    '__svc.auth.validateApiKey': (rawKey: string) => Promise<Validation>
  }
}

export function registerActions(svc: Svc, operations: Operations): void {
  const Id = Type.String()
  const { actions } = svc
  actions.register('__svc.auth.listUsers', () => operations.listUsers())
  actions.register('__svc.auth.validateApiKey', (rawKey) => operations.validateApiKey(rawKey))
  defineAction(svc, '__svc.auth.createUser', NewUser, (user) => operations.createUser(user))
  defineAction(svc, '__svc.auth.getUser', Id, (id) => operations.getUser(id))
  defineAction(svc, '__svc.auth.deleteUser', Id, (id) => operations.deleteUser(id))
  defineAction(svc, '__svc.auth.createApiKey', NewApiKey, (key) => operations.createApiKey(key))
  defineAction(svc, '__svc.auth.listApiKeys', Id, (userId) => operations.listApiKeys(userId))
  defineAction(svc, '__svc.auth.revokeApiKey', Id, (id) => operations.revokeApiKey(id))
}
