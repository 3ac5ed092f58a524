import t from 'tap'
import { classifyError } from '../../../../packages/webhooks/src/outbound/http/post-result.ts'

t.test('errors of sockets, resolvers, TLS and the parser each have their class', async (t) => {
  const classes = {
    blocked: ['SVC_WEBHOOKS_BLOCKED'],
    dns: ['ENOTFOUND', 'EAI_AGAIN', 'EAI_NODATA', 'ENODATA'],
    refused: ['ECONNREFUSED', 'EHOSTUNREACH', 'ENETUNREACH'],
    reset: [
      'ECONNRESET',
      'EPIPE',
      'UND_ERR_SOCKET',
      'UND_ERR_RES_CONTENT_LENGTH_MISMATCH',
      'HPE_INVALID_EOF_STATE',
      'EMFILE',
    ],
    timeout: ['ETIMEDOUT', 'UND_ERR_CONNECT_TIMEOUT'],
    tls: [
      'CERT_HAS_EXPIRED',
      'DEPTH_ZERO_SELF_SIGNED_CERT',
      'EPROTO',
      'ERR_SSL_WRONG_VERSION_NUMBER',
      'ERR_TLS_CERT_ALTNAME_INVALID',
      'SELF_SIGNED_CERT_IN_CHAIN',
      'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
      'PATH_LENGTH_EXCEEDED',
      'ERROR_IN_CERT_NOT_AFTER_FIELD',
      'UNSPECIFIED',
    ],
    'too-large': ['UND_ERR_HEADERS_OVERFLOW'],
  }
  for (const [expected, codes] of Object.entries(classes)) {
    for (const code of codes)
      t.equal(classifyError(Object.assign(new Error('broken'), { code })), expected, code)
  }
  const unparsable = (message: string) =>
    Object.assign(new Error(message), { name: 'HTTPParserError' })
  t.equal(
    classifyError(
      unparsable('Response does not match the HTTP/1.1 protocol (Invalid status code)'),
    ),
    'http',
  )
  t.equal(
    classifyError(unparsable('Response does not match the HTTP/1.1 protocol (Invalid EOF state)')),
    'reset',
  )
  t.equal(
    classifyError(Object.assign(new Error('bad upgrade'), { code: 'UND_ERR_SOCKET' })),
    'http',
  )
  t.equal(classifyError(new Error('unheard of')), 'reset')
})
