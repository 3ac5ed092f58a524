import type { SignatureScheme } from '../preset-schemes.ts'

/** What every message of Amazon SNS has in common: its certificate and its topic. */
const message = {
  signature: { in: 'json:Signature' },
  encoding: 'base64',
  key: {
    certificate: {
      url: '{json:SigningCertURL}',
      at: [
        'https://sns.{region}.amazonaws.com/*.pem',
        'https://sns.{region}.amazonaws.com.cn/*.pem',
      ],
    },
  },
  binds: [{ in: 'json:TopicArn', of: '{option:topicArn}' }],
  timestamp: { in: 'json:Timestamp', unit: 'rfc3339', toleranceSeconds: 7200 },
  open: 'json:Message',
} as const

/** Names and values on lines of their own, in the order of their names. */
const notification =
  'Message\n{json:Message}\nMessageId\n{json:MessageId}\n[Subject\n{json:Subject}\n]' +
  'Timestamp\n{json:Timestamp}\nTopicArn\n{json:TopicArn}\nType\n{json:Type}\n'

const confirmation =
  'Message\n{json:Message}\nMessageId\n{json:MessageId}\nSubscribeURL\n{json:SubscribeURL}\n' +
  'Timestamp\n{json:Timestamp}\nToken\n{json:Token}\nTopicArn\n{json:TopicArn}\nType\n{json:Type}\n'

const confirmations = ['SubscriptionConfirmation', 'UnsubscribeConfirmation'] as const

/** By the version of the signature, and by what kind of message it is. */
export const snsSchemes = [
  {
    ...message,
    algorithm: 'rsa-sha256',
    when: { 'json:SignatureVersion': '2', 'json:Type': 'Notification' },
    signed: notification,
  },
  {
    ...message,
    algorithm: 'rsa-sha256',
    when: { 'json:SignatureVersion': '2', 'json:Type': confirmations },
    signed: confirmation,
  },
  {
    ...message,
    algorithm: 'rsa-sha1',
    when: { 'json:SignatureVersion': '1', 'json:Type': 'Notification' },
    signed: notification,
  },
  {
    ...message,
    algorithm: 'rsa-sha1',
    when: { 'json:SignatureVersion': '1', 'json:Type': confirmations },
    signed: confirmation,
  },
] as const satisfies readonly SignatureScheme[]
