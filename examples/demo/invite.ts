/** Commands to try while the demo stays up; each can be run again. */
interface Invitation {
  base: string
  receiver: string
  secrets: { BOOTSTRAP_KEY: string }
  /** The id of a webhook for `order.created`. */
  webhook: string
  /** The console as a customer sees it: a link that works once. */
  portal: string
}

export function invite({ base, receiver, secrets, webhook, portal }: Invitation): void {
  const key = `-H 'X-API-Key: ${secrets.BOOTSTRAP_KEY}'`
  const json = `-H 'Content-Type: application/json'`
  console.log(`
The host listens at ${base}, the receiver at ${receiver}.

Open the console:   ${base}/console
  and sign in with  ${secrets.BOOTSTRAP_KEY}
What acme sees:     ${portal}

In another terminal, try:

  curl -i ${base}/orders
  curl -s ${key} ${json} -d '{"item":"jam"}' ${base}/orders
  curl -s ${key} '${base}/_webhooks/${webhook}/deliveries?limit=1'
  curl -s ${key} -X POST ${base}/_webhooks/${webhook}/test
  curl -s ${key} ${base}/_webhooks
  curl -s ${key} ${base}/_auth/users

What reaches the receiver is printed here. Ctrl-C ends the demo.
`)
}
