import { operationTables } from '../../../scripts/operation-tables.ts'

export const httpApiPage = (): string => `# HTTP API

These are the routes that the plugins add. In the process each of them is a method of \`app.svc.auth\` or \`app.svc.webhooks\`, and a named action: \`app.svc.actions.call('auth.createUser', input)\`. The method is what the guides teach.

- A route needs a key with the scope of its package (\`auth:manage\`, \`webhooks:manage\`), or \`admin\`, unless its row says otherwise.
- Lists take \`limit\` (at most 1000) and \`after\`. The \`Link\` header of an answer has the next page.
- The paths are those of the default \`path\` of each plugin.
- Bodies are JSON. An error has the shape of [Errors](errors.md).
- With \`@fastify/swagger\` in the host, these routes and their schemas are in its OpenAPI document. The option \`openapi: false\` leaves them out.

${operationTables()}`
