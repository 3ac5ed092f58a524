// promise: No request is sent to an address that is not public, unless `allowedNetworks` opens it, also through a proxy
import t from 'tap'
import {
  createAddressFilter,
  urlProblem,
} from '../../../../packages/webhooks/src/outbound/http/blocked-addresses.ts'

const isBlocked = createAddressFilter([])

t.test('http and https URLs of names and of public addresses may be registered', async (t) => {
  const urls = [
    'https://example.com',
    'http://example.com:8080/hooks?x=1#part',
    'HTTPS://EXAMPLE.COM/',
    'https://münchen.example/',
    'https://example.com./',
    'https://example.com/\u{1f600}',
    'http://localhost/',
    'http://8.8.8.8/',
    'http://[2606:4700:4700::1111]:8443/',
    `https://example.com/${'x'.repeat(2028)}`,
  ]
  for (const url of urls) t.equal(urlProblem(url, isBlocked), null, url.slice(0, 60))
})

t.test('a URL of another form is refused with the reason', async (t) => {
  const cases: [string, RegExp][] = [
    ['', /http or https URL/],
    ['example.com', /http or https URL/],
    ['/hooks', /http or https URL/],
    ['ftp://example.com/', /http or https URL/],
    ['file:///etc/passwd', /http or https URL/],
    ['javascript:alert(1)', /http or https URL/],
    ['http://', /http or https URL/],
    ['http://1.2.3.4.5/', /http or https URL/],
    ['http://example.com:99999/', /http or https URL/],
    ['http://[fe80::1%25eth0]/', /http or https URL/],
    ['https://user@example.com/', /credentials/],
    ['https://user:pass@example.com/', /credentials/],
    ['https://:pass@example.com/', /credentials/],
    [`https://example.com/${'x'.repeat(2029)}`, /at most 2048 characters/],
    ['https://example.com/a b', /spaces or control/],
    [' https://example.com/', /spaces or control/],
    ['https://exa\nmple.com/', /spaces or control/],
    ['https://example.com/\u0000', /spaces or control/],
    ['https://example.com/\ud800', /half of a surrogate pair/],
    ['https://example.com/\udc00?x', /half of a surrogate pair/],
  ]
  for (const [url, why] of cases)
    t.match(urlProblem(url, isBlocked), why, JSON.stringify(url.slice(0, 60)))
})

t.test(
  'a refused address is recognised in every spelling, and the error names the option that allows it',
  async (t) => {
    const urls = [
      'http://127.0.0.1/',
      'http://127.1/',
      'http://127.0.1/',
      'http://2130706433/',
      'http://017700000001/',
      'http://0177.0.0.1/',
      'http://0x7f000001/',
      'http://0x7f.0.0.1/',
      'http://0X7F.1/',
      'http://0/',
      'http://127.0.0.1./',
      'http://127.0.0.1../',
      'http://%31%32%37.0.0.1/',
      'http://１２７.０.０.１/',
      'http://127。0。0。1/',
      'http://①②⑦.0.0.1/',
      'http:/\\127.0.0.1/',
      'http:127.0.0.1',
      'https://169.254.169.254/latest/meta-data/',
      'http://0251.0376.0251.0376/',
      'http://[::1]/',
      'http://[0:0:0:0:0:0:0:1]/',
      'http://[::]/',
      'http://[::ffff:127.0.0.1]/',
      'http://[::ffff:7f00:1]/',
      'http://[::127.0.0.1]/',
      'http://[64:ff9b::127.0.0.1]/',
      'http://[64:ff9b:1::127.0.0.1]/',
      'http://[2002:7f00:1::]/',
      'http://[2001:0:4136:e378:8000:63bf:3fff:fdd2]/',
      'http://[fe80::1]/',
      'http://[fd00:ec2::254]/',
    ]
    for (const url of urls) t.match(urlProblem(url, isBlocked), /allowedNetworks/, url)
  },
)

t.test('addresses in allowedNetworks can be registered', async (t) => {
  const open = createAddressFilter(['127.0.0.0/8', '::1/128'])
  for (const url of ['http://127.1:3000/', 'http://[::1]/', 'http://[::ffff:127.0.0.1]/'])
    t.equal(urlProblem(url, open), null)
  t.match(urlProblem('http://10.0.0.1/', open), /allowedNetworks/)
})

t.test('who cannot change the options of the host is told of none', async (t) => {
  const problem = urlProblem('http://10.0.0.1/', createAddressFilter([]), false)
  t.equal(problem, 'must not point at 10.0.0.1: deliveries go to public addresses only')
})
