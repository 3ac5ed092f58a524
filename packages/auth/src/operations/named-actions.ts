/** The functions of `svc.auth` under their names, for `svc.actions.call`. */
import type { Svc } from '@svc/core'
import type { AuthOperations } from './svc-auth.ts'

declare module '@svc/core' {
  interface SvcActions {
    '__svc.auth.createUser': AuthOperations['createUser']
    '__svc.auth.listUsers': AuthOperations['listUsers']
    '__svc.auth.getUser': AuthOperations['getUser']
    /** Revokes the keys of the user as well. */
    '__svc.auth.deleteUser': AuthOperations['deleteUser']
    '__svc.auth.createApiKey': AuthOperations['createApiKey']
    '__svc.auth.getApiKey': AuthOperations['getApiKey']
    '__svc.auth.updateApiKey': AuthOperations['updateApiKey']
    '__svc.auth.rotateApiKey': AuthOperations['rotateApiKey']
    '__svc.auth.verifyApiKey': AuthOperations['verifyApiKey']
    '__svc.auth.checkApiKey': AuthOperations['checkApiKey']
    '__svc.auth.sealBootstrapKey': AuthOperations['sealBootstrapKey']
    '__svc.auth.listScopes': AuthOperations['listScopes']
    '__svc.auth.listTenants': AuthOperations['listTenants']
    '__svc.auth.getUsage': AuthOperations['getUsage']
    '__svc.auth.listApiKeys': AuthOperations['listApiKeys']
    '__svc.auth.revokeApiKey': AuthOperations['revokeApiKey']
    /** Does not reject for a key that is not valid, and counts no failed attempt. */
    '__svc.auth.validateApiKey': AuthOperations['validateApiKey']
  }
}

export function registerActions({ actions, auth }: Svc): void {
  actions.register('__svc.auth.createUser', auth.createUser)
  actions.register('__svc.auth.listUsers', auth.listUsers)
  actions.register('__svc.auth.getUser', auth.getUser)
  actions.register('__svc.auth.deleteUser', auth.deleteUser)
  actions.register('__svc.auth.createApiKey', auth.createApiKey)
  actions.register('__svc.auth.getApiKey', auth.getApiKey)
  actions.register('__svc.auth.updateApiKey', auth.updateApiKey)
  actions.register('__svc.auth.rotateApiKey', auth.rotateApiKey)
  actions.register('__svc.auth.verifyApiKey', auth.verifyApiKey)
  actions.register('__svc.auth.checkApiKey', auth.checkApiKey)
  actions.register('__svc.auth.sealBootstrapKey', auth.sealBootstrapKey)
  actions.register('__svc.auth.listScopes', auth.listScopes)
  actions.register('__svc.auth.listTenants', auth.listTenants)
  actions.register('__svc.auth.getUsage', auth.getUsage)
  actions.register('__svc.auth.listApiKeys', auth.listApiKeys)
  actions.register('__svc.auth.revokeApiKey', auth.revokeApiKey)
  actions.register('__svc.auth.validateApiKey', auth.validateApiKey)
}
