import t from 'tap'
import {
  createAddressFilter,
  isNetwork,
} from '../../../../packages/webhooks/src/outbound/http/blocked-addresses.ts'

t.test('a text that is not a CIDR is no network', async (t) => {
  const wrong = [
    '',
    '10.0.0.0',
    '10.0.0.0/',
    '10.0.0.0/33',
    '10.0.0.0/-1',
    '10.0.0/8',
    '10.0.0.04/8',
    '::/129',
    '::1%lo/128',
    'a/8',
    '10.0.0.0/8/8',
    '/8',
    '10.0.0.0/ 8',
  ]
  for (const cidr of wrong) {
    t.equal(isNetwork(cidr), false, cidr)
    t.throws(() => createAddressFilter([cidr]), { message: `${cidr} is not a network` })
  }
  for (const cidr of ['10.0.0.0/8', '0.0.0.0/0', '10.0.0.1/32', '::/0', 'fd00::/8', '::1/128']) {
    t.equal(isNetwork(cidr), true, cidr)
  }
})

t.test('a network holds the addresses that share its leading bits', async (t) => {
  const cases: [string, string, boolean][] = [
    ['10.0.0.0/8', '10.255.255.255', true],
    ['10.1.2.3/8', '10.255.255.255', true],
    ['127.0.0.0/9', '127.128.0.0', false],
    ['172.16.0.0/13', '172.23.255.255', true],
    ['172.16.0.0/13', '172.24.0.0', false],
    ['192.0.2.128/25', '192.0.2.127', false],
    ['192.0.2.128/25', '192.0.2.128', true],
    ['192.0.2.1/32', '192.0.2.1', true],
    ['192.0.2.1/32', '192.0.2.0', false],
    ['192.0.2.1/31', '192.0.2.0', true],
    ['fd00::/9', 'fd7f::', true],
    ['fd00::/9', 'fd80::', false],
    ['FE80::A/128', 'fe80::a%eth0', true],
    ['::/0', '127.0.0.1', false],
    // They name no network of IPv4: all of it is 0.0.0.0/0.
    ['::ffff:0:0/96', '127.0.0.1', false],
    ['::ffff:0:0/96', '::ffff:127.0.0.1', false],
    ['64:ff9b::/96', '169.254.169.254', false],
    ['64:ff9b::/96', '64:ff9b::7f00:1', false],
    ['::/80', '::ffff:127.0.0.1', false],
    // Another spelling of a part of it.
    ['::ffff:127.0.0.0/104', '127.0.0.1', true],
    ['::ffff:127.0.0.0/104', '10.0.0.1', false],
    ['127.0.0.0/8', '64:ff9b::7f00:1', true],
    ['10.0.0.0/8', '64:ff9b::7f00:1', false],
  ]
  for (const [cidr, address, isInside] of cases) {
    t.equal(createAddressFilter([cidr])(address), !isInside, `${address} in ${cidr}`)
  }
})
