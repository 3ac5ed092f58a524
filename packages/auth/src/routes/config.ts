import type { Scope } from '../scopes.ts'
import { declareSchemes } from './openapi.ts'

/**
 * The config of a management route: its scopes, and how it declares the schemes of its document.
 */
export const configFor = (...scopes: Scope[]) => ({ scopes, swaggerTransform: declareSchemes })

export const config = configFor('auth:manage')
