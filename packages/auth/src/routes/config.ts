import { declareSchemes } from './openapi.ts'

/** Of every management route: what the guard asks for, and how @fastify/swagger learns of it. */
export const config = { scopes: ['auth:manage'], swaggerTransform: declareSchemes }
