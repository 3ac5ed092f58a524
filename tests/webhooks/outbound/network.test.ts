import t from 'tap'
import {
  addressBytes,
  contains,
  parseNetwork,
} from '../../../packages/webhooks/src/outbound/http/network.ts'

t.test('addresses are read into their bytes', async (t) => {
  const cases: [string, string | null][] = [
    ['1.2.3.4', '01020304'],
    ['255.255.255.255', 'ffffffff'],
    ['::', '00000000000000000000000000000000'],
    ['::1', '00000000000000000000000000000001'],
    ['1::', '00010000000000000000000000000000'],
    ['1:2:3:4:5:6:7:8', '00010002000300040005000600070008'],
    ['1:2:3::7:8', '00010002000300000000000000070008'],
    ['::ffff:1.2.3.4', '00000000000000000000ffff01020304'],
    ['1:2:3:4:5:6:1.2.3.4', '00010002000300040005000601020304'],
    ['FE80::A%eth0', 'fe80000000000000000000000000000a'],
    ['1.2.3', null],
    ['1.2.3.04', null],
    ['1.2.3.256', null],
    ['1:2', null],
    ['1::2::3', null],
    ['::g', null],
    ['name', null],
    ['', null],
  ]
  for (const [text, hex] of cases) {
    const bytes = addressBytes(text)
    t.equal(bytes === null ? null : Buffer.from(bytes).toString('hex'), hex, text)
  }
})

t.test('what is not a CIDR is no network', async (t) => {
  const wrong = [
    '',
    '10.0.0.0',
    '10.0.0.0/',
    '10.0.0.0/33',
    '10.0.0.0/-1',
    '10.0.0/8',
    '::/129',
    '::1%lo/128',
    'a/8',
    '10.0.0.0/8/8',
    '/8',
    '10.0.0.0/ 8',
  ]
  for (const cidr of wrong) t.equal(parseNetwork(cidr), null, cidr)
})

t.test('a network holds the addresses that share its leading bits', async (t) => {
  const cases: [string, string, boolean][] = [
    ['10.0.0.0/8', '10.255.255.255', true],
    ['10.0.0.0/8', '11.0.0.0', false],
    ['172.16.0.0/12', '172.31.255.255', true],
    ['172.16.0.0/12', '172.32.0.0', false],
    ['192.0.2.128/25', '192.0.2.127', false],
    ['192.0.2.128/25', '192.0.2.128', true],
    ['192.0.2.1/32', '192.0.2.1', true],
    ['192.0.2.1/32', '192.0.2.0', false],
    ['192.0.2.1/31', '192.0.2.0', true],
    ['2000::/3', '3fff::', true],
    ['2000::/3', '4000::', false],
    ['::/0', '1.2.3.4', false],
  ]
  for (const [cidr, address, inside] of cases) {
    t.equal(contains(parseNetwork(cidr)!, addressBytes(address)!), inside, `${address} in ${cidr}`)
  }
})
