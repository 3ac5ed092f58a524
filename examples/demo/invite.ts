/** Lines to try while the demo stays up. */
interface Invitation {
  base: string
  receiver: string
  secrets: { BOOTSTRAP_KEY: string }
}

export function invite({ base, receiver, secrets }: Invitation): void {
  const key = `-H 'X-API-Key: ${secrets.BOOTSTRAP_KEY}'`
  const json = `-H 'Content-Type: application/json'`
  console.log(`
The host stays up at ${base}, the receiver at ${receiver}. Try:

  curl -i ${base}/orders
  curl -s ${key} ${base}/_auth/users
  curl -s ${key} ${base}/_webhooks
  curl -s ${key} ${json} -d '{"url":"${receiver}/ok","events":["*"]}' ${base}/_webhooks
  curl -s ${key} ${json} -d '{"id":6,"item":"jam"}' ${base}/orders

Ctrl-C ends it.`)
}
