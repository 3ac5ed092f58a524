// promise: No request is sent to an address that is not public, unless `allowedNetworks` opens it, also through a proxy
import t from 'tap'
import {
  createAddressFilter,
  isNetwork,
} from '../../../../packages/webhooks/src/outbound/http/blocked-addresses.ts'

// First and last address of each network of IANA's special-purpose registries (IPv4 and IPv6), with multicast and what
// lies outside of global unicast, and their neighbours that anyone may receive at.
const REFUSED = [
  ['this network', '0.0.0.0', '0.255.255.255'],
  ['private', '10.0.0.0', '10.255.255.255'],
  [
    'shared by carriers, and the metadata of one cloud',
    '100.64.0.0',
    '100.127.255.255',
    '100.100.100.200',
  ],
  ['loopback', '127.0.0.0', '127.0.0.1', '127.255.255.255'],
  [
    'link-local, and the metadata of most clouds',
    '169.254.0.0',
    '169.254.169.254',
    '169.254.255.255',
  ],
  ['private', '172.16.0.0', '172.31.255.255'],
  [
    'protocol assignments, and the metadata of one cloud',
    '192.0.0.0',
    '192.0.0.192',
    '192.0.0.255',
  ],
  [
    'documentation',
    '192.0.2.0',
    '192.0.2.255',
    '198.51.100.0',
    '198.51.100.255',
    '203.0.113.0',
    '203.0.113.255',
  ],
  ['AS112', '192.31.196.0', '192.31.196.255', '192.175.48.0', '192.175.48.255', '2620:4f:8000::'],
  ['AMT', '192.52.193.0', '192.52.193.255'],
  ['6to4 relays', '192.88.99.0', '192.88.99.255'],
  ['private', '192.168.0.0', '192.168.255.255'],
  ['benchmarks', '198.18.0.0', '198.19.255.255'],
  [
    'multicast',
    '224.0.0.0',
    '239.255.255.255',
    'ff00::',
    'ff02::1',
    'ff0e::1',
    'ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff',
  ],
  ['reserved, and broadcast', '240.0.0.0', '255.255.255.255'],
  ['a platform address of one cloud', '168.63.129.16'],
  ['unspecified', '::', '0:0:0:0:0:0:0:0'],
  ['loopback', '::1', '0:0:0:0:0:0:0:1', '::1%lo'],
  ['IPv4-compatible', '::127.0.0.1', '::7f00:1', '::8.8.8.8'],
  [
    'IPv4-mapped',
    '::ffff:127.0.0.1',
    '::ffff:7f00:1',
    '0:0:0:0:0:ffff:10.0.0.1',
    '::ffff:169.254.169.254',
  ],
  ['IPv4-translated', '::ffff:0:127.0.0.1', '::ffff:0:8.8.8.8'],
  ['behind NAT64', '64:ff9b::127.0.0.1', '64:ff9b::a9fe:a9fe', '64:ff9b::10.1.2.3'],
  [
    'NAT64 for local use',
    '64:ff9b:1::',
    '64:ff9b:1:ffff:ffff:ffff:ffff:ffff',
    '64:ff9b:1::8.8.8.8',
  ],
  ['discard-only', '100::', '100::ffff:ffff:ffff:ffff', '100:0:0:1::'],
  [
    'protocol assignments',
    '2001::',
    '2001:1ff:ffff:ffff:ffff:ffff:ffff:ffff',
    '2001:1::1',
    '2001:3::',
    '2001:4:112::',
  ],
  ['Teredo', '2001::1', '2001:0:4136:e378:8000:63bf:3fff:fdd2'],
  ['benchmarks', '2001:2::', '2001:2:0:ffff:ffff:ffff:ffff:ffff'],
  ['ORCHID', '2001:10::', '2001:20::', '2001:30::', '2001:3f:ffff:ffff:ffff:ffff:ffff:ffff'],
  [
    'documentation',
    '2001:db8::',
    '2001:db8:ffff:ffff:ffff:ffff:ffff:ffff',
    '3fff::',
    '3fff:fff:ffff:ffff:ffff:ffff:ffff:ffff',
  ],
  ['6to4', '2002::', '2002:7f00:1::', '2002:808:808::', '2002:ffff:ffff:ffff:ffff:ffff:ffff:ffff'],
  ['segment routing', '5f00::', '5f00:ffff:ffff:ffff:ffff:ffff:ffff:ffff'],
  [
    'unique local, and the metadata of one cloud',
    'fc00::',
    'fd00:ec2::254',
    'fdff:ffff:ffff:ffff:ffff:ffff:ffff:ffff',
  ],
  ['link-local', 'fe80::', 'fe80::1%eth0', 'febf:ffff:ffff:ffff:ffff:ffff:ffff:ffff'],
  ['site-local', 'fec0::', 'feff:ffff:ffff:ffff:ffff:ffff:ffff:ffff'],
  ['unassigned', '1fff:ffff:ffff:ffff:ffff:ffff:ffff:ffff', '4000::', '8000::', 'e000::'],
  [
    'no address',
    '',
    'localhost',
    '127.1',
    '0x7f000001',
    '2130706433',
    '017700000001',
    '127.0.0.1.',
    '1.2.3.4.5',
    '[::1]',
    '1.1.1.1%eth0',
  ],
] as const

const OPEN = [
  '1.1.1.1',
  '8.8.8.8',
  '9.255.255.255',
  '11.0.0.0',
  '100.63.255.255',
  '100.128.0.0',
  '126.255.255.255',
  '128.0.0.0',
  '168.63.129.15',
  '168.63.129.17',
  '169.253.255.255',
  '169.255.0.0',
  '172.15.255.255',
  '172.32.0.0',
  '192.0.1.0',
  '192.0.3.0',
  '192.167.255.255',
  '192.169.0.0',
  '198.17.255.255',
  '198.20.0.0',
  '223.255.255.255',
  '::ffff:8.8.8.8',
  '::ffff:808:808',
  '64:ff9b::8.8.8.8',
  '2000::',
  '2001:200::',
  '2001:4860:4860::8888',
  '2001:db7:ffff:ffff:ffff:ffff:ffff:ffff',
  '2001:db9::',
  '2003::',
  '2606:4700:4700::1111',
  '3ffe:ffff:ffff:ffff:ffff:ffff:ffff:ffff',
]

t.test('addresses of special use are refused', async (t) => {
  const isBlocked = createAddressFilter([])
  for (const [what, ...addresses] of REFUSED) {
    for (const address of addresses) t.equal(isBlocked(address), true, `${address} (${what})`)
  }
})

t.test('publicly routable addresses are not refused', async (t) => {
  const isBlocked = createAddressFilter([])
  for (const address of OPEN) t.equal(isBlocked(address), false, address)
})

t.test('an allowed network allows the addresses in it, in every form, and no others', async (t) => {
  const isBlocked = createAddressFilter([
    '127.0.0.0/8',
    '10.1.2.0/23',
    'fd00::/8',
    '::1/128',
    '169.254.169.253/32',
  ])
  const open = [
    '127.0.0.1',
    '127.255.0.9',
    '::ffff:127.0.0.1',
    '64:ff9b::127.0.0.1',
    '10.1.3.255',
    'fd12::1',
    '::1',
  ]
  for (const address of [...open, '169.254.169.253']) t.equal(isBlocked(address), false, address)
  const shut = [
    '10.1.4.0%eth0',
    '10.1.4.0',
    '10.1.1.255',
    'fc00::1',
    '::2',
    '169.254.169.254',
    '::127.0.0.1',
    '2002:7f00:1::',
  ]
  for (const address of shut) t.equal(isBlocked(address), true, address)
})

t.test('a network of IPv6 does not open what leads to a blocked address of IPv4', async (t) => {
  const shut = [
    ['IPv4-mapped', '::ffff:10.0.0.1', '::FFFF:A00:1', '0:0:0:0:0:ffff:0a00:0001', '::ffff:7f00:1'],
    ['IPv4-mapped', '0000:0000:0000:0000:0000:ffff:169.254.169.254', '::ffff:192.168.0.1%eth0'],
    [
      'NAT64',
      '64:ff9b::a00:1',
      '64:ff9b::10.0.0.1',
      '0064:FF9B:0:0:0:0:7f00:1',
      '64:ff9b::100.64.0.1',
    ],
    ['6to4', '2002:a00:1::', '2002:0a00:0001::1', '2002:7f00:1::', '2002:c0a8:1:1:2:3:4:5'],
    ['Teredo, by its server', '2001:0:a00:1::f5ff:fffe', '2001::a00:1:0:0:0:0'],
    ['Teredo, by its client', '2001:0:808:808::f5ff:fffe', '2001:0000:0808:0808:0:0:80ff:fffe'],
    ['IPv4-compatible', '::10.0.0.1', '::7f00:1', '0:0:0:0:0:0:a9fe:a9fe'],
    ['IPv4-translated', '::ffff:0:10.0.0.1', '0:0:0:0:ffff:0:7f00:1'],
    ['ISATAP', 'fe80::5efe:10.0.0.1', '2606:4700::200:5efe:7f00:1'],
    ['NAT64 for local use', '64:ff9b:1::10.0.0.1', '64:ff9b:1:a00:0:100::', '64:ff9b:1:a:0:1::'],
  ]
  const filters = {
    everything: createAddressFilter(['::/0']),
    'the prefixes themselves': createAddressFilter([
      '::/16',
      '64:ff9b::/32',
      '2000::/3',
      'fe80::/10',
    ]),
  }
  for (const [which, isBlocked] of Object.entries(filters)) {
    for (const [what, ...addresses] of shut) {
      for (const address of addresses)
        t.equal(isBlocked(address), true, `${which}: ${address} (${what})`)
    }
  }
  const isBlocked = createAddressFilter(['::/0'])
  for (const address of [
    '::1',
    'fe80::1',
    'fd00::1',
    '2002:808:808::',
    '::ffff:8.8.8.8',
    '64:ff9b::8.8.8.8',
    '::8.8.8.8',
    '2001:0:808:808::f7f7:f7f7',
    '64:ff9b:1::8.8.8.8',
    'fe80::5efe:8.8.8.8',
  ]) {
    t.equal(isBlocked(address), false, address)
  }
  const both = createAddressFilter(['::/0', '10.0.0.0/8'])
  for (const address of ['::ffff:10.0.0.1', '64:ff9b::a00:1', '2002:a00:1::', '::10.0.0.1']) {
    t.equal(both(address), false, `${address}, as its own network is open`)
  }
})

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
    ['0.0.0.0/0', '127.0.0.1', true],
    ['0.0.0.0/0', '::1', false],
    // They name no network of IPv4: all of it is 0.0.0.0/0.
    ['::ffff:0:0/96', '127.0.0.1', false],
    ['::ffff:0:0/96', '::ffff:127.0.0.1', false],
    ['64:ff9b::/96', '169.254.169.254', false],
    ['64:ff9b::/96', '64:ff9b::7f00:1', false],
    ['::/80', '::ffff:127.0.0.1', false],
    // Another spelling of a part of it.
    ['::ffff:127.0.0.0/104', '127.0.0.1', true],
    ['::ffff:127.0.0.0/104', '64:ff9b::7f00:1', true],
    ['::ffff:127.0.0.0/104', '10.0.0.1', false],
    ['64:ff9b::a00:0/104', '::ffff:10.1.2.3', true],
    ['64:ff9b::a00:0/104', '127.0.0.1', false],
    ['127.0.0.0/8', '64:ff9b::7f00:1', true],
    ['10.0.0.0/8', '64:ff9b::7f00:1', false],
  ]
  for (const [cidr, address, isInside] of cases) {
    t.equal(createAddressFilter([cidr])(address), !isInside, `${address} in ${cidr}`)
  }
})
