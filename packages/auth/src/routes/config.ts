import { declareSchemes } from './openapi.ts'

/** Of every management route: its scope, and how it declares the schemes of its document. */
export const config = { scopes: ['auth:manage'], swaggerTransform: declareSchemes }
